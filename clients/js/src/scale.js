/** Γ, the answer scale: an ordered, finite set of answers. */
import { ForsoothError } from "./error.js";
import { shown, texts } from "./json.js";

const MOST_ANSWERS = 1001;
const WIDEST = 1e9; // of its smallest steps
const DECIMAL =
  /^[-+]?(?:\d(?:_?\d)*(?:\.(?:\d(?:_?\d)*)?)?|\.\d(?:_?\d)*)(?:[eE][-+]?\d(?:_?\d)*)?$/;

/** If every label is a number, the numbers are its values; otherwise 0, 1, 2, … */
export class Scale {
  /** @param {unknown} json a list of labels */
  constructor(json) {
    /** @type {readonly string[]} */
    this.labels = texts(json, "scale");
    const numbers = this.labels.map(numberOf);
    /** @type {boolean} */
    this.isNumeric = numbers.every(Number.isFinite);
    /** @type {readonly number[]} */
    this.values = this.isNumeric ? numbers : this.labels.map((_, position) => position);
    this.#check();
  }

  #check() {
    const { labels, values } = this;
    if (labels.length < 2 || labels.length > MOST_ANSWERS || labels.includes("")) {
      throw new ForsoothError(`a scale has from 2 to ${MOST_ANSWERS} answers, none of them empty`);
    }
    const finest = Math.min(...values.slice(1).map((value, before) => value - values[before]));
    if (!(finest > 0)) throw new ForsoothError("a scale's numbers must increase");
    const reach = Math.max(Math.abs(this.low), Math.abs(this.high));
    if (reach > WIDEST * finest || finest < 1 / WIDEST) {
      throw new ForsoothError(`a scale may be at most ${WIDEST} of its smallest steps wide`);
    }
  }

  /** How many answers there are; also the code of NULL ("did not answer"). */
  get size() {
    return this.labels.length;
  }

  get low() {
    return this.values[0];
  }

  get high() {
    return this.values[this.size - 1];
  }

  /**
   * The position of an answer: a label, or the number that it stands for.
   * @param {unknown} answer
   * @param {string} where for the complaint
   * @returns {number}
   */
  code(answer, where) {
    let code = -1;
    if (typeof answer === "string") code = this.labels.indexOf(answer);
    else if (typeof answer === "number" && this.isNumeric) code = this.values.indexOf(answer);
    if (code < 0) {
      throw new ForsoothError(`${where}: ${shown(answer)} is not on the scale ${this}`, "input");
    }
    return code;
  }

  /**
   * The label that stands for exactly this number, if there is one.
   * @param {number} value
   * @returns {string | null}
   */
  labelOf(value) {
    return this.labels[this.values.indexOf(value)] ?? null;
  }

  toString() {
    const { labels } = this;
    return labels.length <= 12
      ? labels.join(", ")
      : `${labels[0]}, ${labels[1]}, …, ${labels[labels.length - 1]}`;
  }
}

/**
 * A label as Python reads it with float(): digits of any script, underscores between digits.
 * @param {string} label
 */
function numberOf(label) {
  const text = label.trim().replace(/\p{Nd}/gu, digitOf);
  return DECIMAL.test(text) ? Number(text.replaceAll("_", "")) : NaN;
}

/**
 * Every script's digits stand in runs of ten: the place in the run is the digit.
 * @param {string} character
 */
function digitOf(character) {
  let before = 0;
  const point = character.codePointAt(0) ?? 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(point - before - 1))) before++;
  return String(before % 10);
}
