/** A form that is filled from a campaign: to change a draft, or to make another campaign like it. */
import { chooseKind } from "./kind.js";
import { OWN } from "./plan.js";
import { fillPanel } from "./panel.js";
import { readTable, writeRows } from "./table.js";

/**
 * @param {HTMLFormControlsCollection} fields
 * @param {any} order as the service gives it
 */
export function fillForm(fields, order) {
  const text = (name, value) => (fields[name].value = value ?? "");
  for (const name of ["title", "description", "epsilon", "sampled", "max_reports", "target_width"]) {
    text(name, order[name]);
  }
  text("retention_days", order.retention_days);
  fields.anonymous.checked = order.anonymous;
  text("batch", order.batch);
  text("table", tableOf(order.tasks));
  text("scale", scaleOf(order.scale));
  text("labels", order.labels ? writeRows([order.labels]).trim() : "");
  text("closes_at", momentOf(order.closes_at));
  fields.unit.value = order.unit;
  fields.protects.value = order.protects;
  chooseKind(order.estimand);
  fields.preset.value = OWN;
  fields.access.value = order.open ? "open" : "invitations";
  fillPanel(fields, order.panel);
  const isListed = [...fields.mechanism.options].some(({ value }) => value === order.mechanism);
  if (!isListed) fields.mechanism.add(new Option(order.mechanism, order.mechanism));
  fields.mechanism.value = order.mechanism;
}

/** One question per line where that says all, otherwise a table. */
function tableOf(tasks) {
  const lines = tasks.map(({ text }) => text).join("\n");
  const isPlain = tasks.every(
    ({ id, image, section }, place) => id === String(place + 1) && !image && !section,
  );
  const read = () => readTable(lines).tasks.map(({ text }) => text);
  if (isPlain && same(read, tasks.map(({ text }) => text))) return lines;
  const rows = tasks.map(({ id, text, image, section }) => [id, text, image ?? "", section ?? ""]);
  return writeRows([["id", "text", "image", "section"], ...rows]);
}

function same(read, texts) {
  try {
    return JSON.stringify(read()) === JSON.stringify(texts);
  } catch {
    return false;
  }
}

/** 0..4 for consecutive numbers, otherwise the answers themselves. */
function scaleOf(answers) {
  const [low, high] = [Number(answers[0]), Number(answers.at(-1))];
  const isRange = answers.every((answer, place) => answer === String(low + place));
  return isRange && Number.isInteger(low) ? `${low}..${high}` : writeRows([answers]).trim();
}

/** A moment as its field wants it, in the time of this place; one that has passed is left out. */
function momentOf(text) {
  if (!text || new Date(text) <= new Date()) return "";
  const moment = new Date(text);
  moment.setMinutes(moment.getMinutes() - moment.getTimezoneOffset());
  return moment.toISOString().slice(0, 16);
}
