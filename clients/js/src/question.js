/** Which question this is, whichever campaign asks it: by its words and picture, not its address. */
import { sha256Hex } from "./bytes.js";

/** @typedef {import("./about.js").About} About */

const SPACES = /\p{White_Space}+/gu;

/**
 * One value of a report, or its share of a sketch, and the names under which it is remembered.
 * @typedef {object} Cell
 * @property {number} place of the task
 * @property {string} text of the question
 * @property {string} question fingerprint of its words and its picture
 * @property {string} draw the rule and the words for the answers; for the second of two equal questions
 *   of a campaign another one than for the first
 * @property {string} coins the name of the seed that it is drawn with; a sketch has one
 * @property {number} epsilon
 */

/** @param {import("./about.js").Task} task */
export function questionOf({ text, image }) {
  const words = text.normalize("NFC").toLowerCase().replace(SPACES, " ").replace(/^ | $/g, "");
  return sha256Hex(`${words}\n${image ?? ""}`);
}

/**
 * The rule by which one cell is drawn, with the words that the person saw for the answers.
 * @param {string} rule the exact text of the mechanism of one cell
 * @param {readonly string[]} labels
 */
export function drawOf(rule, labels) {
  return sha256Hex([rule, ...labels].join("\n"));
}

/**
 * The cells of some tasks. What a sketch draws belongs to one campaign: it cannot be sent in another.
 * What an anonymous report has must not be sent in another: it would show whose report it is.
 * @param {About} about
 * @param {import("./mechanism.js").Mechanism} mechanism
 * @param {string} rule
 * @param {string} address
 * @param {readonly number[]} places
 * @param {boolean} anonymous
 * @returns {Promise<Cell[]>}
 */
export async function cellsOf({ tasks, labels }, mechanism, rule, address, places, anonymous) {
  const draw = await drawOf(rule, labels);
  const questions = await Promise.all(tasks.map(questionOf));
  /** @type {Map<string, number>} */
  const asked = new Map();
  const times = questions.map((question) => {
    const before = asked.get(question) ?? 0;
    asked.set(question, before + 1);
    return before;
  });
  const whole = `${draw}/${address}`;
  return places.map((place) => {
    const question = questions[place];
    const own = `${mechanism.isCellwise && !anonymous ? draw : whole}/${times[place]}`;
    return {
      place,
      text: tasks[place].text,
      question,
      draw: own,
      coins: mechanism.isCellwise ? `${question}/${own}` : whole,
      epsilon: mechanism.cell.epsilon,
    };
  });
}
