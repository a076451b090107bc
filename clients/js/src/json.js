/**
 * JSON from strangers: nothing is guessed and nothing is lost.
 *
 * `JSON.parse` reads 1.0 as the integer 1, rounds long integers and lets the last of two equal keys
 * win, so that two clients could read two mechanisms from one text. Here an integer becomes a
 * BigInt, any other number a Number, an object a Map; equal keys are refused.
 */
import { ForsoothError } from "./error.js";

/** @typedef {Map<string, any>} JsonObject */
/** @typedef {null | boolean | string | number | bigint | any[] | JsonObject} Json */

const DEEPEST = 64;
const MOST_DIGITS = 4300; // where Python stops reading an integer, too
const LARGEST = 2n ** 62n; // what 64-bit arithmetic holds with room for a sign and a sum
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPES = new Map(
  Object.entries({ '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }),
);
const CONSTANTS = /** @type {[string, Json][]} */ ([
  ["null", null],
  ["true", true],
  ["false", false],
]);

/**
 * @param {string} text
 * @returns {Json}
 */
export function parseJson(text) {
  let at = 0;
  const value = read(0);
  space();
  if (at < text.length) fail();
  return value;

  /** @returns {never} */
  function fail() {
    throw new ForsoothError(`this is not valid JSON (at character ${at})`);
  }

  function space() {
    while (" \t\n\r".includes(text.charAt(at) || "x")) at++;
  }

  /** @param {string} character */
  function eat(character) {
    space();
    if (text[at] !== character) return false;
    at++;
    return true;
  }

  /** @param {RegExp} pattern */
  function match(pattern) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    at += found?.[0].length ?? 0;
    return found;
  }

  /**
   * @param {number} depth
   * @returns {Json}
   */
  function read(depth) {
    if (depth > DEEPEST) fail();
    if (eat("{")) return object(depth + 1);
    if (eat("[")) return list(depth + 1);
    if (eat('"')) return string();
    for (const [word, value] of CONSTANTS) {
      if (text.startsWith(word, at)) {
        at += word.length;
        return value;
      }
    }
    return number();
  }

  /** @param {number} depth */
  function object(depth) {
    /** @type {JsonObject} */
    const members = new Map();
    if (eat("}")) return members;
    do {
      if (!eat('"')) fail();
      const key = string();
      if (members.has(key))
        throw new ForsoothError(`the key ${shown(key)} stands twice in one object`);
      if (!eat(":")) fail();
      members.set(key, read(depth));
    } while (eat(","));
    if (!eat("}")) fail();
    return members;
  }

  /** @param {number} depth */
  function list(depth) {
    /** @type {Json[]} */
    const items = [];
    if (eat("]")) return items;
    do items.push(read(depth));
    while (eat(","));
    if (!eat("]")) fail();
    return items;
  }

  function string() {
    let value = "";
    for (;;) {
      value += match(PLAIN)?.[0] ?? "";
      if (text[at] === '"') {
        at++;
        return value;
      }
      if (text[at] !== "\\") fail();
      const hex = /^u([0-9a-fA-F]{4})/.exec(text.slice(at + 1, at + 6));
      const escaped = hex ? String.fromCharCode(parseInt(hex[1], 16)) : ESCAPES.get(text[at + 1]);
      if (escaped === undefined) fail();
      value += escaped;
      at += hex ? 6 : 2;
    }
  }

  function number() {
    const found = match(NUMBER);
    if (!found) fail();
    const [digits, fraction, exponent] = found;
    if (fraction !== undefined || exponent !== undefined) return Number(digits);
    if (digits.length > MOST_DIGITS) fail();
    return BigInt(digits);
  }
}

/**
 * @param {unknown} value
 * @param {string} what
 * @returns {JsonObject}
 */
export function anObject(value, what) {
  if (!(value instanceof Map))
    throw new ForsoothError(`${what} must be an object, got ${shown(value)}`);
  return value;
}

/**
 * @param {unknown} value
 * @param {string} what
 * @returns {Json[]}
 */
export function aList(value, what) {
  if (!Array.isArray(value)) throw new ForsoothError(`${what} must be a list, got ${shown(value)}`);
  return value;
}

/**
 * An integer within bounds. 1.0 is not one.
 * @param {unknown} value
 * @param {string} what
 * @param {bigint} [low]
 * @param {bigint} [high]
 * @returns {bigint}
 */
export function anInteger(value, what, low = -LARGEST, high = LARGEST) {
  if (typeof value !== "bigint" || value < low || value > high) {
    throw new ForsoothError(
      `${what} must be an integer from ${low} to ${high}, got ${shown(value)}`,
    );
  }
  return value;
}

/**
 * A finite number.
 * @param {unknown} value
 * @param {string} what
 * @returns {number}
 */
export function aNumber(value, what) {
  const number = typeof value === "bigint" || typeof value === "number" ? Number(value) : NaN;
  if (!Number.isFinite(number)) {
    throw new ForsoothError(`${what} must be a finite number, got ${shown(value)}`);
  }
  return number;
}

/**
 * @param {unknown} value
 * @param {string} what
 * @returns {string}
 */
export function aText(value, what) {
  if (typeof value !== "string")
    throw new ForsoothError(`${what} must be a text, got ${shown(value)}`);
  return value;
}

/**
 * A list of distinct texts.
 * @param {unknown} value
 * @param {string} what
 * @returns {string[]}
 */
export function texts(value, what) {
  const listed = aList(value, what).map((item) => aText(item, what));
  if (new Set(listed).size < listed.length)
    throw new ForsoothError(`${what}: the same name stands twice`);
  return listed;
}

/**
 * @param {unknown} value
 * @param {string} what
 * @returns {boolean}
 */
export function aTruth(value, what) {
  if (typeof value !== "boolean")
    throw new ForsoothError(`${what} must be true or false, got ${shown(value)}`);
  return value;
}

/**
 * A value for a message: short, whatever it is.
 * @param {unknown} value
 */
export function shown(value) {
  let text = typeof value === "string" ? JSON.stringify(value) : String(value);
  if (value instanceof Map) text = "an object";
  else if (Array.isArray(value)) text = "a list";
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`;
}
