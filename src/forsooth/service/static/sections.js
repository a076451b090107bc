/** Questions in sections and on pages; the page is part of the browser's history. */
import { byId, element, showOnly } from "./dom.js";
import { WORDS } from "./words.js";

/** @typedef {import("./forsooth-client.js").Task} Task */

let pages = [];
let shown = 0;

/**
 * Show questions under the headings of their sections, some at a time.
 * @param {readonly HTMLElement[]} boxes
 * @param {readonly Task[]} tasks of the boxes
 * @param {number | null} perPage
 */
export function layOut(boxes, tasks, perPage) {
  const size = perPage ?? boxes.length;
  const starts = boxes.map((_, place) => place).filter((place) => place % size === 0);
  pages = starts.map((start) => {
    const headed = boxes.slice(start, start + size).flatMap((box, place) => {
      const [section, before] = [tasks[start + place].section, tasks[start + place - 1]?.section];
      const begins = section && (place === 0 || section !== before);
      return begins ? [element("h2", { dir: "auto", className: "section" }, section), box] : [box];
    });
    return element("div", { tabIndex: -1 }, ...headed);
  });
  byId("tasks").replaceChildren(...pages);
  turnTo(history.state?.page);
}

/** Show a page, as the history has it. @param {number} [page] */
export function turnTo(page = 0) {
  shown = Math.min(page, pages.length - 1);
  showOnly(pages, pages[shown]);
  byId("previous").hidden = shown === 0;
  byId("next").textContent = isLastPage() ? WORDS.review : WORDS.next;
}

export function isLastPage() {
  return shown === pages.length - 1;
}

/** Go a page on or back. @param {number} by */
export function turn(by) {
  history.pushState({ page: shown + by }, "");
  turnTo(shown + by);
  pages[shown].focus({ preventScroll: true });
  pages[shown].scrollIntoView();
}

/** "Page 2 of 4 · ", "" where there is one page. */
export function pageInWords() {
  return pages.length > 1 ? `${WORDS.page(shown, pages.length)} · ` : "";
}

/**
 * Tasks in a random order within each section: the device draws it, and it is in no report.
 * @param {readonly Task[]} tasks
 * @returns {Task[]}
 */
export function shuffled(tasks) {
  const mixed = [...tasks];
  for (let end = mixed.length - 1; end > 0; end--) {
    let first = end;
    while (first > 0 && tasks[first - 1].section === tasks[end].section) first--;
    const other = first + below(end - first + 1);
    [mixed[end], mixed[other]] = [mixed[other], mixed[end]];
  }
  return mixed;
}

/** A number from 0 to below `limit`, all with the same probability. @param {number} limit */
function below(limit) {
  const most = 2 ** 32 - (2 ** 32 % limit);
  for (;;) {
    const [word] = crypto.getRandomValues(new Uint32Array(1));
    if (word < most) return word % limit;
  }
}
