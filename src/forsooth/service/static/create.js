/** The form for a new campaign, with the promise in words while it is being chosen. */
import { lookAlike } from "./alike.js";
import { anonymousOrder, previewAnonymity } from "./anonymous.js";
import { call } from "./api.js";
import { byId, shown, tell } from "./dom.js";
import { inWords } from "./forsooth-client.js";
import { estimand, prepareKind, showKind } from "./kind.js";
import { applyPreset, plan, preparePresets } from "./plan.js";
import { readPanel, showPanel } from "./panel.js";
import { showPromise } from "./promise.js";
import { fillForm } from "./order.js";
import { readRows, readTable, readText } from "./table.js";
import { fillTexts, prepareTexts, readTexts } from "./texts.js";

const form = byId("new-form");
const fields = form.elements;
const problem = byId("new-problem");
const CELLS_ONLY = ["adaptive", "mf-safe"]; // mechanisms that have no ε for a whole person

/** The draft that is being changed, "" for a new campaign; and what the form was filled from. */
let changed = "";
let source = null;
let namedScale = ""; // by the table, and put into its field

/**
 * Show the form as it was left, or filled from a campaign.
 * @param {any} [order]
 * @param {string} [draft] the id of the draft that is to be changed
 */
export function beginForm(order = null, draft = "") {
  if (order || source) {
    form.reset();
    fillTexts(fields, order?.presentation);
  }
  [source, changed, namedScale] = [order, draft, ""];
  if (order) fillForm(fields, draft ? order : { ...order, title: `Copy of ${order.title}` });
  byId("new-title").textContent = draft ? "Change the draft" : "New campaign";
  byId("create").hidden = Boolean(draft);
  byId("cancel").href = draft ? `#/c/${draft}` : "#/";
  tell(problem, "");
  preview();
}

/** @param {(made: {id: string}, invitations: number) => void} created what comes after */
export function prepareForm(created) {
  prepareKind();
  preparePresets();
  prepareTexts(fields);
  form.addEventListener("input", preview);
  form.addEventListener("keydown", (event) => {
    // Enter in a field is no order to create anything.
    if (event.key === "Enter" && event.target instanceof HTMLInputElement) event.preventDefault();
  });
  byId("offer").addEventListener("click", () => {
    fields.unit.value = "worker";
    preview();
  });
  fields.file.addEventListener("change", async () => {
    if (fields.file.files[0]) fields.table.value = await readText(fields.file.files[0]);
    preview();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    tell(problem, "");
    const button = event.submitter;
    button.disabled = true;
    try {
      const draft = button.value === "draft";
      const order = { ...readOrder(), draft };
      const invitations = order.open || draft ? 0 : Number(fields.count.value);
      const made = changed ? await call(`/${changed}`, order, "PUT") : await call("", order);
      form.reset();
      fillTexts(fields);
      source = null;
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
  let [table, complaint] = [{ tasks: [], scale: "", unused: [] }, ""];
  try {
    table = readTable(fields.table.value);
  } catch (error) {
    complaint = error.message;
  }
  const { tasks, scale } = table;
  if (scale && scale !== namedScale) fields.scale.value = scale;
  namedScale = scale;
  byId("table-result").textContent = complaint || described(table);
  showKind();
  applyPreset(tasks.length);
  previewPromise(tasks);
  previewAnonymity();
  plan(plannable(tasks));
  byId("count-field").hidden = fields.access.value === "open" || Boolean(changed);
  showPanel(fields);
  byId("sybil").hidden = fields.access.value !== "open";
}

/** The part of the order that decides what to expect; null as long as it is not complete. */
function plannable(tasks) {
  const [scale, kind] = [fields.scale.value.trim(), estimand()];
  const epsilon = Number(fields.epsilon.value);
  if (tasks.length === 0 || !kind || !(epsilon > 0)) return null;
  if (!/^-?\d+\s*\.\.\s*-?\d+$|^[^,]+(,[^,]+)+$/.test(scale)) return null;
  return {
    scale,
    tasks: tasks.length,
    epsilon,
    unit: fields.unit.value,
    sampled: Math.max(1, Number(fields.sampled.value)),
    protects: fields.protects.value,
    mechanism: fields.mechanism.value,
    estimand: kind,
  };
}

/** What everybody will be promised, and what the requester should know of it. */
function previewPromise(tasks) {
  const whole = fields.unit.value === "worker";
  byId("sampled-field").hidden = !whole;
  byId("epsilon-name").textContent = whole ? "ε per person" : "ε per question";
  for (const option of fields.mechanism.options) {
    option.disabled = whole && CELLS_ONLY.includes(option.value);
    if (option.disabled && option.selected) fields.mechanism.value = "rr";
  }
  const epsilon = Number(fields.epsilon.value);
  const cells = whole ? Math.max(1, Number(fields.sampled.value)) : null;
  byId("preview").hidden = !(epsilon > 0);
  tell(byId("total"), epsilon > 0 ? "" : "Choose ε above 0.");
  if (!(epsilon > 0)) return;
  const words = inWords({
    epsilon: epsilon / (cells ?? 1),
    protects: fields.protects.value,
    tasks: Math.max(1, tasks.length),
    cells,
  });
  showPromise(byId("preview"), words);
  const total = words.bounds[0];
  tell(byId("total"), `Everything one person says: ε = ${shown(total.epsilon, 4)}, ${total.strength}`);
  warn(tasks, total, whole);
}

/** Where the total is large or questions look alike, and where ε per person would help. */
function warn(tasks, { epsilon, strength, odds }, whole) {
  const isWeak = strength === "weak" || strength === "very weak";
  const alike = whole ? null : lookAlike(tasks);
  tell(
    byId("total-warning"),
    isWeak
      ? `All that one person says is protected ${strength.replace("weak", "weakly")}: ` +
          `ε = ${shown(epsilon, 4)}, so 1 to 1 can become ${odds}. Workers read this. Ask fewer ` +
          `questions, choose a smaller ε${whole ? "." : ", or let ε cover everything."}`
      : "",
  );
  tell(
    byId("alike-warning"),
    alike
      ? `${shown(alike.questions)} questions look alike, for example “${alike.pair[0]}” and ` +
          `“${alike.pair[1]}”. If their answers go together, the promise for a single answer does ` +
          "not hold for them: only the one for everything does."
      : "",
  );
  byId("offer").hidden = whole || !(isWeak || alike);
  byId("preview-warning").hidden = !(isWeak || alike);
}

function described({ tasks, scale, unused }) {
  if (tasks.length === 0) return "";
  const [first, last] = [tasks[0].text, tasks.at(-1).text];
  const images = tasks.filter((task) => task.image).length;
  const pictures = images ? `, ${shown(images)} with a picture` : "";
  const sections = tasks.filter(({ section }, place) => section && section !== tasks[place - 1]?.section).length;
  const found =
    tasks.length === 1
      ? `1 question: “${first}”`
      : `${shown(tasks.length)} questions${pictures}, from “${first}” to “${last}”`;
  return [
    found,
    ...(sections ? [sections === 1 ? "1 section" : `${shown(sections)} sections`] : []),
    ...(scale ? [`The answers are those of the column scale: ${scale}`] : []),
    ...(unused.length ? [`Not used: ${unused.length === 1 ? "the column" : "the columns"} ${unused.join(", ")}`] : []),
  ].join(". ");
}

/** The form's content in the service's form; what is left out has the service's default. */
function readOrder() {
  const text = (name) => fields[name].value.trim();
  const number = (name) => (text(name) ? { [name]: Number(text(name)) } : {});
  const { tasks } = readTable(fields.table.value);
  if (!text("title")) throw new Error("The campaign needs a title.");
  if (tasks.length === 0) throw new Error("There is no question yet.");
  const closes = text("closes_at") && new Date(text("closes_at"));
  if (closes && closes <= new Date()) throw new Error("The closing date has passed: choose one in the future, or none.");
  const labels = text("labels") && readRows(text("labels"), ",")[0];
  const twice = labels && labels.find((label, place) => labels.indexOf(label) < place);
  if (twice) throw new Error(`Two answers have the same words, “${twice}”: give each its own.`);
  return {
    ...(source && { redesign_after: source.redesign_after }),
    title: text("title"),
    description: text("description"),
    tasks,
    scale: text("scale").includes('"') ? readRows(text("scale"), ",")[0] : text("scale"),
    ...(labels && { labels }),
    presentation: readTexts(fields),
    epsilon: Number(text("epsilon")),
    unit: fields.unit.value,
    ...(fields.unit.value === "worker" && number("sampled")),
    protects: fields.protects.value,
    mechanism: fields.mechanism.value,
    estimand: estimand(),
    open: fields.access.value === "open",
    ...readPanel(fields),
    ...(closes && { closes_at: closes.toISOString() }),
    ...number("max_reports"),
    ...number("target_width"),
    ...number("retention_days"),
    ...anonymousOrder(),
  };
}
