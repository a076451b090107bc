/** What the truth of a question is: asked in plain words, and found from the scale where it can be. */
import { byId } from "./dom.js";

const fields = byId("new-form").elements;
const RESULTS = {
  level: "Result: one value on the scale for each question, with a 90 % interval.",
  label: "Result: the most probable answer to each question, with a probability for every answer.",
  opinion:
    "Result: for each question the share of people who give each answer, and the mean answer, with 90 % intervals.",
};
let chosen = false; // has the requester said what the answers are?

export function prepareKind() {
  byId("kind").addEventListener("input", () => {
    chosen = true;
  });
  fields.truth[0].form.addEventListener("reset", () => {
    chosen = false;
  });
}

/** Take over what was said before. @param {"level" | "label" | "opinion"} estimand */
export function chooseKind(estimand) {
  fields.truth.value = estimand === "opinion" ? "opinion" : "one";
  chosen = estimand !== "opinion";
  if (chosen) fields.kind.value = estimand;
}

/** Ask only what is needed, and say what the result will be. */
export function showKind() {
  const answers = answersOf(fields.scale.value);
  byId("kind").hidden = fields.truth.value !== "one" || answers.count < 3;
  if (!chosen) fields.kind.value = answers.numeric ? "level" : "label";
  byId("estimand").textContent = RESULTS[estimand()] ?? "";
}

/** @returns {"level" | "label" | "opinion" | null} null before the requester has chosen */
export function estimand() {
  if (fields.truth.value !== "one") return fields.truth.value || null;
  return answersOf(fields.scale.value).count < 3 ? "label" : fields.kind.value;
}

/** How many answers there are, and whether they are numbers. @param {string} scale */
function answersOf(scale) {
  const range = /^\s*(-?\d+)\s*\.\.\s*(-?\d+)\s*$/.exec(scale);
  if (range) return { count: range[2] - range[1] + 1, numeric: true };
  const answers = scale.split(",").map((answer) => answer.trim());
  const numeric = answers.every((answer) => answer && Number.isFinite(Number(answer)));
  return { count: answers.length, numeric };
}
