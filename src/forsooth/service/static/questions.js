/** The questions as a form; the answers are in it and nowhere else in the page. */
import { byId, element } from "./dom.js";

const MANY = 12; // a longer scale is a list to choose from instead of buttons

/**
 * Show the questions.
 * @param {import("./forsooth-client.js").Campaign} campaign
 * @param {Map<string, string>} answers to begin with, by task
 */
export function showQuestions({ asked, scale }, answers) {
  const boxes = asked.map((task, place) => question(scale, asked.length, task, place));
  boxes.forEach((box, place) => choose(box, answers.get(asked[place].id)));
  byId("tasks").replaceChildren(...boxes);
}

/**
 * What is answered now, by task.
 * @param {import("./forsooth-client.js").Campaign} campaign
 * @returns {Map<string, string>}
 */
export function answersOf({ asked }) {
  const boxes = [...byId("tasks").children];
  const pairs = boxes.map((box, place) => [asked[place].id, chosen(box)]);
  return new Map(pairs.filter(([, answer]) => answer !== null));
}

/** Take all answers back. */
export function clearAnswers() {
  for (const box of byId("tasks").children) choose(box, undefined);
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

function row({ values, labels }, place) {
  const short = labels.every((label) => label.length <= 3);
  return element(
    "div",
    { className: short ? "choices short" : "choices" },
    ...values.map((value, position) =>
      element(
        "label",
        {},
        element("input", { type: "radio", name: `task-${place}`, value }),
        element("span", { dir: "auto" }, labels[position]),
      ),
    ),
  );
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
