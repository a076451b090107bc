/** From answers to the bytes that leave the worker. */
import { ForsoothError } from "./error.js";
import { shown } from "./json.js";

/** @typedef {import("./mechanism.js").Mechanism} Mechanism */
/** @typedef {string | number | null} Answer a label of the scale or its number; null: skipped */
/** @typedef {Record<string, Answer> | Iterable<readonly [string, Answer]>} Answers by task */

/**
 * @typedef {object} Report
 * @property {readonly number[]} codes what was answered, a position on the scale per task
 * @property {readonly number[] | null} answered the answered tasks' places, where that is public
 * @property {readonly number[]} places the tasks that can influence the report, of which a cellwise
 *   mechanism sends a value each
 * @property {readonly (number | bigint)[]} values what is sent
 * @property {Uint8Array} bytes the same as bytes
 */

/**
 * All input is checked before the first coin is tossed. Coins are tossed for every task, skipped or
 * not: what is sent for one task does not depend on the answers to others.
 * @param {Mechanism} mechanism
 * @param {readonly string[]} tasks the campaign's, in order
 * @param {Answers} answers tasks that are left out were skipped
 * @param {import("./coins.js").Coins} coins
 * @param {string} worker the worker's public name
 * @returns {Promise<Report>}
 */
export async function makeReport(mechanism, tasks, answers, coins, worker) {
  const codes = codesOf(mechanism, tasks, answers);
  const eligible = await mechanism.eligible(tasks.length, worker);
  const places = reportedOf(mechanism, codes, eligible);
  const inputs = eligible.map((task) => inputOf(mechanism, codes[task]));
  const drawn = await mechanism.randomise(inputs, coins, worker);
  const reported = new Set(places);
  const values = mechanism.isCellwise
    ? drawn.filter((_, cell) => reported.has(eligible[cell]))
    : drawn;
  return assembled(mechanism, codes, places, values);
}

/**
 * What is drawn for a task that may be skipped: where that is public, anything, and it is not sent.
 * @param {Mechanism} mechanism
 * @param {number} code
 */
export function inputOf({ layout, scale }, code) {
  return layout === "cells" ? code % scale.size : code;
}

/**
 * The tasks that the report is about.
 * @param {Mechanism} mechanism
 * @param {readonly number[]} codes
 * @param {readonly number[]} eligible
 */
export function reportedOf({ layout, scale }, codes, eligible) {
  if (layout === "rows") return eligible;
  const places = eligible.filter((task) => codes[task] !== scale.size);
  if (places.length === 0) throw new ForsoothError("nothing was answered yet", "input");
  return places;
}

/**
 * @param {Mechanism} mechanism
 * @param {readonly number[]} codes
 * @param {readonly number[]} places
 * @param {readonly (number | bigint)[]} values
 * @returns {Report}
 */
export function assembled(mechanism, codes, places, values) {
  const answered = mechanism.layout === "cells" ? places : null;
  return { codes, answered, places, values, bytes: encode(values, mechanism.bits) };
}

/**
 * A position on the scale per task, NULL being `scale.size`.
 * @param {Mechanism} mechanism
 * @param {readonly string[]} tasks
 * @param {Answers} answers
 * @returns {number[]}
 */
export function codesOf({ scale }, tasks, answers) {
  const places = new Map(tasks.map((task, place) => [task, place]));
  const codes = new Array(tasks.length).fill(scale.size);
  const seen = new Set();
  for (const [task, answer] of pairsOf(answers)) {
    const place = places.get(task);
    const where = `task ${shown(task)}`;
    if (place === undefined) throw new ForsoothError(`${where} is not in this campaign`, "input");
    if (seen.has(task)) throw new ForsoothError(`${where} is answered twice`, "input");
    seen.add(task);
    if (answer !== null) codes[place] = scale.code(answer, where);
  }
  return codes;
}

/**
 * @param {Answers} answers
 * @returns {Iterable<readonly [string, Answer]>}
 */
function pairsOf(answers) {
  if (typeof answers !== "object" || answers === null) {
    throw new ForsoothError("answers are an object { task: answer } or a list of pairs", "input");
  }
  if (Symbol.iterator in answers)
    return /** @type {Iterable<readonly [string, Answer]>} */ (answers);
  return Object.entries(answers);
}

/**
 * Values in task order, one after the other in as many bits as each needs: value c stands in the
 * bits [c·bits, (c+1)·bits), bit i being bit i mod 8 of byte i div 8. The bits left over are 0, and
 * the length says how many values there are, nothing else.
 * @param {readonly (number | bigint)[]} values
 * @param {number} bits of one value: up to 16 for symbols, 64 for whole numbers with a sign
 * @returns {Uint8Array}
 */
export function encode(values, bits) {
  const bytes = new Uint8Array(Math.ceil((values.length * bits) / 8));
  const view = new DataView(bytes.buffer);
  values.forEach((value, place) => {
    if (bits === 64) view.setBigInt64(8 * place, BigInt(value), true);
    else writeBits(bytes, place * bits, Number(value));
  });
  return bytes;
}

/**
 * @param {Uint8Array} bytes
 * @param {number} start the first bit
 * @param {number} value
 */
function writeBits(bytes, start, value) {
  let rest = value << (start % 8);
  for (let byte = start >> 3; rest > 0; byte++, rest >>= 8) bytes[byte] |= rest;
}
