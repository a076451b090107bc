/** The part of the form about a panel: whose people come by the open link, and how they get back. */
import { byId } from "./dom.js";

const WAYS_BACK = ["completion_code", "completion_url", "closed_url"];

/** @param {HTMLFormControlsCollection} fields */
export function showPanel(fields) {
  byId("panel").hidden = fields.access.value !== "open";
}

/**
 * @param {HTMLFormControlsCollection} fields
 * @param {Record<string, string | null> | null} panel of a campaign that is changed or copied
 */
export function fillPanel(fields, panel) {
  for (const name of ["parameter", ...WAYS_BACK]) fields[name].value = panel?.[name] ?? "";
}

/**
 * The panel in the service's form; nothing without a parameter.
 * @param {HTMLFormControlsCollection} fields
 */
export function readPanel(fields) {
  const text = (name) => fields[name].value.trim();
  if (fields.access.value !== "open") return {};
  if (!text("parameter")) {
    if (WAYS_BACK.some(text)) throw new Error("Name the parameter with which the panel adds people's ids.");
    return {};
  }
  const given = WAYS_BACK.filter(text).map((name) => [name, text(name)]);
  return { panel: { parameter: text("parameter"), ...Object.fromEntries(given) } };
}
