/** What was answered beside what will be sent, and how much the two have in common. */
import { byId, cell, element, shown } from "./dom.js";

const FEW = 40; // rows up to which nothing is folded
const GROUP = 25; // questions that are folded together
const LISTED = 3; // merged answers that are named one by one

/**
 * @typedef {import("./forsooth-client.js").PreparedRow} Row
 * @typedef {import("./forsooth-client.js").Campaign["scale"]} Scale
 */

/**
 * @param {readonly Row[]} rows
 * @param {Scale} scale
 */
export function showReview(rows, scale) {
  byId("summary").textContent = summary(rows);
  byId("rows").replaceChildren(
    ...(rows.length <= FEW ? [table(rows, scale)] : groups(rows, scale)),
  );
}

/** Many questions, folded by their numbers; the first ones are open. */
function groups(rows, scale) {
  const starts = Array.from({ length: Math.ceil(rows.length / GROUP) }, (_, group) => group * GROUP);
  return starts.map((start) => {
    const part = rows.slice(start, start + GROUP);
    const questions = `Questions ${start + 1} to ${start + part.length}`;
    const answered = part.filter((row) => row.answer !== null).length;
    return element(
      "details",
      { className: "group", open: start === 0 },
      element("summary", {}, `${questions}: ${answered} answered${changed(part)}`),
      table(part, scale),
    );
  });
}

function changed(rows) {
  if (rows.some((row) => !row.sent?.likeliest)) return "";
  return `, ${shown(rows.filter((row) => !agrees(row)).length)} changed`;
}

function table(rows, scale) {
  const heads = ["Question", "You answered", "Will be sent"];
  return element(
    "table",
    { className: "review stacked", role: "table" },
    element(
      "thead",
      { role: "rowgroup" },
      element(
        "tr",
        { role: "row" },
        ...heads.map((text) => element("th", { role: "columnheader", scope: "col" }, text)),
      ),
    ),
    element("tbody", { role: "rowgroup" }, ...rows.map((row) => line(row, scale))),
  );
}

function line({ task, answer, sent, repeated }, scale) {
  const word = (value) => (value === null ? "skipped" : scale.labels[scale.values.indexOf(value)]);
  return element(
    "tr",
    { role: "row" },
    element("th", { role: "rowheader", scope: "row", dir: "auto" }, task.text),
    cell("You answered", word(answer)),
    cell("Will be sent", asSent(sent, word, scale) + (repeated ? " (as before)" : "")),
  );
}

/** What is sent for a question, as it will be read: one answer, several that are merged, or a number. */
function asSent(sent, word, scale) {
  if (sent === null) return "nothing of its own";
  if (sent.likeliest) return listed(sent.likeliest, word, scale);
  if (sent.reads === null) return "skipped";
  return sent.label === null ? between(sent.reads, scale) : word(sent.label);
}

/** Answers that are sent alike: "never, rarely or skipped"; many neighbours are "0 to 4". */
function listed(answers, word, { values }) {
  const codes = answers.filter((answer) => answer !== null).map((answer) => values.indexOf(answer));
  const isRun = codes.length > LISTED && codes.at(-1) - codes[0] === codes.length - 1;
  const words = isRun
    ? [`${word(values[codes[0]])} to ${word(values[codes.at(-1)])}`, ...(answers.includes(null) ? [word(null)] : [])]
    : answers.map(word);
  return [words.slice(0, -1).join(", "), ...words.slice(-1)].filter(Boolean).join(" or ");
}

/** A number, with the answers around it where these are words. */
function between(number, { values, labels, numbers }) {
  const text = shown(number);
  if (labels.every((label, code) => label === values[code] && label === String(numbers[code])))
    return text;
  const above = numbers.findIndex((each) => each > number);
  if (above === 0) return `${text}: below “${labels[0]}”`;
  if (above < 0) return `${text}: above “${labels.at(-1)}”`;
  return `${text}: between “${labels[above - 1]}” and “${labels[above]}”`;
}

/** Does what is sent stand for what was answered? */
function agrees({ answer, sent }) {
  return sent.likeliest.includes(answer);
}

/** @param {readonly Row[]} rows */
function summary(rows) {
  const sent = rows.filter((row) => row.sent !== null);
  if (sent.length === 0) {
    return "This survey mixes everything into a few noisy numbers: no question has one of its own.";
  }
  const sure = "How sure somebody can become all the same is said at the top of this page.";
  if (sent.some((row) => row.sent.likeliest === null)) {
    return `Every number has noise in it, and can stand for a question that you skipped. ${sure}`;
  }
  const merged = sent.some((row) => row.sent.likeliest.length > 1);
  const how = merged
    ? "as something that stands for your answer, alone or with others"
    : "just as you answered";
  const same = `${shown(sent.filter(agrees).length)} of ${shown(sent.length)}`;
  return `${same} rows will be sent ${how}; the report does not say which. ${sure}`;
}
