/** The part of the form about texts, logo, order and pages. */
import { byId, tell } from "./dom.js";

const MAX_LOGO = 100_000; // bytes, as the service allows
const TEXTS = ["introduction", "consent", "thanks"];
let logo = null; // as a data: URL

/** @param {HTMLFormControlsCollection} fields */
export function prepareTexts(fields) {
  fields.logo.addEventListener("change", async () => {
    const [file] = fields.logo.files;
    const fits = file && file.size <= MAX_LOGO;
    show(fits ? await read(file) : null);
    fields.logo.value = ""; // the same file can be chosen again
    tell(byId("logo-news"), file && !fits ? "This file is larger than 100 kB: choose a smaller one." : "");
  });
  byId("logo-remove").addEventListener("click", () => show(null));
}

/**
 * @param {HTMLFormControlsCollection} fields
 * @param {any} presentation as the service gives it; without it, nothing
 */
export function fillTexts(fields, presentation = {}) {
  for (const name of TEXTS) fields[name].value = presentation[name] ?? "";
  [fields.low.value, fields.high.value] = presentation.ends ?? ["", ""];
  fields.shuffled.checked = presentation.shuffled ?? false;
  fields.per_page.value = presentation.per_page ?? "";
  byId("texts").open = Object.values(presentation).some(Boolean);
  tell(byId("logo-news"), "");
  show(presentation.logo ?? null);
}

/** @param {HTMLFormControlsCollection} fields */
export function readTexts(fields) {
  const text = (name) => fields[name].value.trim();
  const ends = [text("low"), text("high")];
  if (ends.some(Boolean) && !ends.every(Boolean)) throw new Error("Give words for both ends of the scale, or for none.");
  if (ends[0] && text("labels")) throw new Error("There are words for all answers and for the ends: choose one.");
  return {
    ...Object.fromEntries(TEXTS.map((name) => [name, text(name)])),
    logo,
    ends: ends[0] ? ends : null,
    shuffled: fields.shuffled.checked,
    per_page: text("per_page") ? Number(text("per_page")) : null,
  };
}

function show(url) {
  logo = url;
  byId("logo-shown").hidden = !url;
  if (url) byId("logo-picture").src = url;
}

/** @param {File} file @returns {Promise<string>} */
function read(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
