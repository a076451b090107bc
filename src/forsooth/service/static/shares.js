/** The results of a survey: a bar per answer, the mean, and where people disagree. */
import { interval } from "./charts.js";
import { byId, element, shape, shown } from "./dom.js";

const MOST_QUESTIONS = 300; // shown as bars; the CSV file has all
const MOST_NAMED = 10; // questions that are named in the summary

/** @param {any} found what the service answers to …/truths, of the estimand opinion */
export function showShares({ truths, scale }) {
  const first = truths.slice(0, MOST_QUESTIONS);
  const top = Math.max(...first.flatMap(({ shares }) => shares.map((share) => share.high)));
  showDivided(truths);
  byId("questions").replaceChildren(...first.map((each) => question(each, scale, top)));
  byId("questions-rest").textContent =
    truths.length > first.length
      ? `The first ${shown(first.length)} of ${shown(truths.length)} questions; Truths (CSV) has all.`
      : "";
}

/** Which questions people disagree on, before anything else. */
function showDivided(truths) {
  const divided = truths.filter(({ valley }) => valley?.divided);
  const named = divided.slice(0, MOST_NAMED).map(({ text }) => element("li", {}, text));
  if (divided.length > named.length) {
    named.push(element("li", {}, `… and ${shown(divided.length - named.length)} more`));
  }
  byId("divided").hidden = divided.length === 0;
  byId("divided-title").textContent =
    truths.length === 1
      ? "People disagree"
      : `People disagree on ${shown(divided.length)} of ${shown(truths.length)} questions`;
  byId("divided-list").replaceChildren(...named);
}

/** One question: a bar per answer with its interval, the mean answer, how many answered. */
function question({ task, text, truth, low, high, shares, participation, valley }, scale, top) {
  return element(
    "section",
    { className: "question" },
    element("h3", {}, element("span", { className: "soft" }, `${task} `), text),
    ...(valley?.divided ? [camps(valley, scale.labels)] : []),
    element(
      "p",
      { className: "soft" },
      `Mean ${shown(truth)} (${interval({ low, high })}) on the scale from ${ends(scale)}; ` +
        `answered by ${percentage(participation)}`,
    ),
    element(
      "table",
      { className: "bars" },
      element("tbody", {}, ...shares.map((share, code) => bar(scale.labels[code], share, top))),
    ),
  );
}

/** The sign: which two answers are more frequent than one in between, and by how much. */
function camps({ camps: [left, between, right], estimate, low, high }, labels) {
  const quoted = (code) => element("strong", {}, labels[code]);
  const points = (value) => shown(100 * value, 0);
  return element(
    "p",
    { className: "camps" },
    element("span", { className: "badge divided" }, "People disagree"),
    " More people answer ",
    quoted(left),
    " and ",
    quoted(right),
    " than ",
    quoted(between),
    `, by ${points(estimate)} points (${points(low)} – ${points(high)}).`,
  );
}

/** "0 to 4", and in words what these are. */
function ends({ numbers, labels }) {
  const name = (place) => {
    const number = shown(numbers.at(place));
    return labels.at(place) === number ? number : `${number} (${labels.at(place)})`;
  };
  return `${name(0)} to ${name(-1)}`;
}

/** @param {{estimate: number, low: number, high: number}} share "41 % (36 – 46 %)" */
function percentage({ estimate, low, high }) {
  const [value, ...bounds] = [estimate, low, high].map((each) => shown(100 * each, 0));
  return `${value} % (${bounds.join(" – ")} %)`;
}

function bar(label, share, top) {
  const percent = (value) => `${(100 * value) / top}%`;
  const [left, right] = [percent(share.low), percent(share.high)];
  const picture = shape(
    "svg",
    { "aria-hidden": "true" },
    shape("rect", { class: "fill", y: 3, height: 14, rx: 2, width: percent(share.estimate) }),
    shape("line", { class: "whisker", x1: left, x2: right, y1: 10, y2: 10 }),
    ...[left, right].map((x) => shape("line", { class: "whisker", x1: x, x2: x, y1: 6, y2: 14 })),
  );
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, label),
    element("td", { className: "picture" }, picture),
    element("td", { className: "number" }, percentage(share)),
  );
}
