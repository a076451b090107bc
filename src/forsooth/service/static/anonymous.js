/** The requester's form: an anonymous campaign, and what it excludes. */
import { byId } from "./dom.js";

const BATCH = 20; // reports that are shown together, where nothing else is chosen
const fields = byId("new-form").elements;

/** Show what goes with the choice; what an anonymous campaign cannot be is switched off. */
export function previewAnonymity() {
  const chosen = fields.anonymous.checked;
  const batch = Number(fields.batch.value) || BATCH;
  byId("batch-field").hidden = !chosen;
  fields.count.min = String(chosen ? batch : 1);
  byId("count-note").hidden = !chosen;
  byId("count-note").textContent = `At least ${batch}: those who are invited together hide each other.`;
  for (const [name, value, instead] of [
    ["access", "open", "invitations"],
    ["protects", "answers", "answers+participation"],
  ]) {
    const option = [...fields[name]].find((each) => each.value === value);
    option.disabled = chosen;
    if (chosen && option.checked) fields[name].value = instead;
  }
  const adaptive = [...fields.mechanism.options].find((each) => each.value === "adaptive");
  adaptive.disabled ||= chosen;
  if (chosen && adaptive.selected) fields.mechanism.value = "rr";
}

/** The part of the order that is about this. */
export function anonymousOrder() {
  if (!fields.anonymous.checked) return {};
  return { anonymous: true, ...(fields.batch.value && { batch: Number(fields.batch.value) }) };
}
