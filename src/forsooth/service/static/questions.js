/** The questions as a form; the answers are in it and nowhere else in the page. */
import { byId, element } from "./dom.js";
import { layOut } from "./sections.js";

const MANY = 12; // a longer scale is a list to choose from instead of buttons

/** The questions that are shown, and their tasks, in the order in which they are shown. */
let boxes = [];
let tasks = [];

/**
 * Show the questions.
 * @param {import("./forsooth-client.js").Campaign} campaign
 * @param {readonly import("./forsooth-client.js").Task[]} order
 * @param {Map<string, string>} answers to begin with, by task
 */
export function showQuestions({ scale, presentation: { ends, perPage } }, order, answers) {
  tasks = order;
  boxes = tasks.map((task, place) => question({ ...scale, ends }, tasks.length, task, place));
  boxes.forEach((box, place) => choose(box, answers.get(tasks[place].id)));
  layOut(boxes, tasks, perPage);
}

/**
 * What is answered now, by task.
 * @returns {Map<string, string>}
 */
export function answersNow() {
  const pairs = boxes.map((box, place) => [tasks[place].id, chosen(box)]);
  return new Map(pairs.filter(([, answer]) => answer !== null));
}

/** Take all answers back. */
export function clearAnswers() {
  for (const box of boxes) choose(box, undefined);
}

/** The answers leave the page. */
export function removeQuestions() {
  [boxes, tasks] = [[], []];
  byId("tasks").replaceChildren();
}

/** A question as a group of buttons, or as a list where the scale is long. */
function question(scale, count, task, place) {
  const clear = element("button", { type: "button", className: "quiet", hidden: true }, "Clear");
  const choices = scale.values.length > MANY ? list(scale, place) : row(scale, place);
  const box = element(
    "fieldset",
    { className: "card task" },
    element(
      "legend",
      {},
      element("span", { className: "soft" }, `${place + 1} of ${count}`),
      element("span", { className: "text", dir: "auto" }, task.text),
    ),
    // At once: a picture that is loaded when it comes into view tells its server how far one is.
    ...(task.image
      ? [element("img", { src: task.image, alt: "Picture to the question", loading: "eager" })]
      : []),
    choices,
    clear,
  );
  clear.setAttribute("aria-label", `Clear question ${place + 1}`);
  box.addEventListener("change", () => (clear.hidden = chosen(box) === null));
  clear.addEventListener("click", () => {
    choose(box, undefined);
    box.parentElement.dispatchEvent(new Event("change", { bubbles: true }));
    box.querySelector("input, select").focus();
  });
  return box;
}

function row({ values, labels, ends }, place) {
  const texts = ends ? values : labels;
  const short = texts.every((text) => text.length <= 3);
  const choices = element(
    "div",
    { className: short ? "choices short" : "choices" },
    ...values.map((value, position) =>
      element(
        "label",
        {},
        element("input", { type: "radio", name: `task-${place}`, value, ...named(labels[position], texts[position]) }),
        element("span", { dir: "auto" }, texts[position]),
      ),
    ),
  );
  if (!ends) return choices;
  choices.classList.add("ended");
  const words = ends.map((word) => element("span", { dir: "auto" }, word));
  return element("div", {}, choices, element("p", { className: "ends", "aria-hidden": "true" }, ...words));
}

/** A name for those who hear the page, where it is not the text that is shown. */
function named(label, text) {
  return label === text ? {} : { "aria-label": label };
}

function list({ values, labels }, place) {
  return element(
    "select",
    { name: `task-${place}`, "aria-label": "Your answer" },
    element("option", { value: "" }, "skipped"),
    ...values.map((value, position) => element("option", { value, dir: "auto" }, labels[position])),
  );
}

/** The value chosen in a question's box; null: skipped. */
function chosen(box) {
  return box.querySelector("input:checked, select")?.value || null;
}

/** Choose a value, or none; a value that the question does not have is none. Only the box hears of it. */
function choose(box, value) {
  const select = box.querySelector("select");
  if (select) {
    select.value = value ?? "";
    if (select.selectedIndex < 0) select.value = "";
  }
  for (const input of box.querySelectorAll("input")) input.checked = input.value === value;
  box.dispatchEvent(new Event("change"));
}
