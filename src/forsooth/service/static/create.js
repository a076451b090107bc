/** The form for a new campaign, with the promise in words while it is being chosen. */
import { call } from "./api.js";
import { byId, element, shown, tell } from "./dom.js";
import { certainty, promised } from "./promise.js";
import { readRows, readTasks } from "./table.js";

const form = byId("new-form");
const fields = form.elements;
const problem = byId("new-problem");
const WEAK = 0.95; // certainty about one answer above which a warning is shown
const RESULTS = {
  level: "Result: one value on the scale for each question, with a 90 % interval.",
  label: "Result: the most probable answer to each question, with a probability for every answer.",
  opinion:
    "Result: for each question the share of people who give each answer, and the mean answer, with 90 % intervals.",
};

/** @param {(made: {id: string}, invitations: number) => void} created what comes after */
export function prepareForm(created) {
  form.addEventListener("input", preview);
  fields.file.addEventListener("change", async () => {
    if (fields.file.files[0]) fields.table.value = await fields.file.files[0].text();
    preview();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    tell(problem, "");
    const button = event.submitter;
    button.disabled = true;
    try {
      const order = readOrder();
      const invitations = order.open ? 0 : Number(fields.count.value);
      const made = await call("", order);
      form.reset();
      created(made, invitations);
    } catch (error) {
      tell(problem, error.message);
      problem.scrollIntoView({ block: "nearest" });
    } finally {
      button.disabled = false;
      preview();
    }
  });
  preview();
}

function preview() {
  let [tasks, complaint] = [[], ""];
  try {
    tasks = readTasks(fields.table.value);
  } catch (error) {
    complaint = error.message;
  }
  byId("table-result").textContent = complaint || described(tasks);
  byId("estimand").textContent = RESULTS[estimand()] ?? "";
  const epsilon = Number(fields.epsilon.value);
  const words =
    epsilon > 0
      ? promised({ epsilon, tasks: tasks.length || 1, protects: fields.protects.value })
      : ["Choose ε above 0."];
  byId("preview").replaceChildren(...words.map((text) => element("li", {}, text)));
  tell(
    byId("preview-warning"),
    certainty(epsilon) > WEAK ? "This protects little: consider a smaller ε." : "",
  );
  byId("count-field").hidden = fields.access.value === "open";
}

function described(tasks) {
  if (tasks.length === 0) return "";
  const [first, last] = [tasks[0].text, tasks.at(-1).text];
  if (tasks.length === 1) return `1 question: “${first}”`;
  const images = tasks.filter((task) => task.image).length;
  const pictures = images ? `, ${shown(images)} with a picture` : "";
  return `${shown(tasks.length)} questions${pictures}, from “${first}” to “${last}”`;
}

/**
 * What the truth of a question is: a level on scales of three or more numbers, a label on others.
 * @returns {"level" | "label" | "opinion" | null} null before the requester has chosen
 */
function estimand() {
  if (fields.truth.value !== "one") return fields.truth.value || null;
  const range = /^\s*(-?\d+)\s*\.\.\s*(-?\d+)\s*$/.exec(fields.scale.value);
  if (range) return range[2] - range[1] > 1 ? "level" : "label";
  const answers = fields.scale.value.split(",").map((answer) => answer.trim());
  const numeric = answers.every((answer) => answer && Number.isFinite(Number(answer)));
  return numeric && answers.length > 2 ? "level" : "label";
}

/** The form's content in the service's form; what is left out has the service's default. */
function readOrder() {
  const text = (name) => fields[name].value.trim();
  const number = (name) => (text(name) ? { [name]: Number(text(name)) } : {});
  const tasks = readTasks(fields.table.value);
  if (tasks.length === 0) throw new Error("There is no question yet.");
  return {
    title: text("title"),
    description: text("description"),
    tasks,
    scale: text("scale"),
    ...(text("labels") && { labels: readRows(text("labels"), ",")[0] }),
    epsilon: Number(text("epsilon")),
    protects: fields.protects.value,
    mechanism: fields.mechanism.value,
    estimand: estimand(),
    open: fields.access.value === "open",
    ...(text("closes_at") && { closes_at: new Date(text("closes_at")).toISOString() }),
    ...number("max_reports"),
    ...number("target_width"),
  };
}
