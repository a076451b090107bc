/** The form for a new campaign, with the promise in words while it is being chosen. */
import { call } from "./api.js";
import { byId, element, shown, tell } from "./dom.js";
import { certainty, promised } from "./promise.js";
import { readRows, readTasks } from "./table.js";

const form = byId("new-form");
const fields = form.elements;
const problem = byId("new-problem");
const WEAK = 0.95; // so sure of one answer is nearly knowing it

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

/** What the form says, as the service wants it; what is left out has the service's default. */
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
    open: fields.access.value === "open",
    ...(text("closes_at") && { closes_at: new Date(text("closes_at")).toISOString() }),
    ...number("max_reports"),
    ...number("target_width"),
  };
}
