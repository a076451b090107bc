/** A promise on a page: how strong it is, by a word, a bar and a colour, and what it allows. */
import { element } from "./dom.js";

/** How each class looks: the card's class, and how many of the bar's four parts are filled. */
const LOOKS = {
  strong: ["good", 4],
  moderate: ["fair", 3],
  weak: ["warn", 2],
  "very weak": ["bad", 1],
};
const PARTS = 4;

/**
 * Fill a card that has places for the words: h2, .bounds, .open, .conclusions, .sentences.
 * @param {HTMLElement} card
 * @param {import("./forsooth-client.js").PromiseInWords} words
 */
export function showPromise(card, words) {
  const [look] = LOOKS[words.strength];
  const [open, ...sentences] = words.sentences.toReversed();
  card.classList.remove(...Object.values(LOOKS).map(([name]) => name));
  card.classList.add(look);
  card.querySelector("h2").textContent = words.title;
  card.querySelector(".bounds").replaceChildren(...words.bounds.map(bound));
  card.querySelector(".open").textContent = open;
  card.querySelector(".conclusions").replaceChildren(conclusions(words.conclusions));
  card
    .querySelector(".sentences")
    .replaceChildren(...sentences.reverse().map((text) => element("li", {}, text)));
  card.hidden = false;
}

/** One bound: what it is about, its class as a word and a bar, and the odds. */
function bound({ about, strength, odds }) {
  const [look, filled] = LOOKS[strength];
  const parts = Array.from({ length: PARTS }, (_, part) =>
    element("span", part < filled ? { className: "filled" } : {}),
  );
  return element(
    "div",
    { className: `bound ${look}` },
    element("p", { className: "about" }, about),
    element(
      "p",
      { className: "class" },
      element("span", { className: "parts", "aria-hidden": "true" }, ...parts),
      element("strong", {}, strength),
      element("span", { className: "soft" }, `odds of 1 to 1 can become ${odds}`),
    ),
  );
}

/** What a reader can conclude, by what they thought before. */
function conclusions(rows) {
  const head = ["What they may want to know", "if 50 % before", "if 1 % before"];
  return element(
    "table",
    {},
    element("caption", { className: "soft" }, "How likely somebody can think it is after reading your report, at most"),
    element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))),
    element(
      "tbody",
      {},
      ...rows.map(({ about, half, rare }) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, about),
          element("td", { className: "number" }, half),
          element("td", { className: "number" }, rare),
        ),
      ),
    ),
  );
}
