/**
 * What a guarantee promises to one person, in words: everything they say first, then one answer.
 *
 * The bound for a single answer holds only if the person's other answers tell nothing about it; ten
 * similar questions are like one question asked ten times. So the total leads, always.
 * `forsooth/promise.py` says the same; `vectors/verification/promises.json` is shared.
 */
import { timesAbove } from "./exact.js";
import { HALF, RARE, amount, chance, isCountable, odds, strength } from "./odds.js";

/** @typedef {import("./odds.js").Strength} Strength */
/** @typedef {{about: string, epsilon: number, strength: Strength, odds: string}} StatedBound */
/** @typedef {{about: string, half: string, rare: string}} StatedConclusion */

/**
 * `strength` and `title` are those of everything the person says. In `conclusions`, `half` and
 * `rare` are what a reader can conclude who thought 50 % or 1 % before.
 * @typedef {object} PromiseInWords
 * @property {Strength} strength
 * @property {string} title
 * @property {readonly StatedBound[]} bounds
 * @property {readonly string[]} sentences
 * @property {readonly StatedConclusion[]} conclusions
 */

/**
 * @typedef {object} Guarantee
 * @property {number} epsilon of one cell
 * @property {import("./mechanism.js").Protects} protects
 * @property {number} tasks of the campaign
 * @property {number | null} cells how many of them can influence a report; null: all
 */

/**
 * @param {Guarantee} guarantee
 * @returns {PromiseInWords}
 */
export function inWords(guarantee) {
  const { epsilon, tasks, cells } = guarantee;
  const total = timesAbove(epsilon, cells === null ? tasks : Math.min(cells, tasks));
  const one = "One answer, if your other answers tell nothing about it";
  const single = cells === null && tasks > 1;
  /** @type {[string, string, number][]} */
  const stated = [["Everything you say", "Anything that concerns you", total]];
  if (single) stated.push([one, one, epsilon]);
  const strong = strength(total);
  return {
    strength: strong,
    title: `${strong[0].toUpperCase()}${strong.slice(1)} protection of everything you say here`,
    bounds: stated.map(([about, , each]) => ({
      about,
      epsilon: each,
      strength: strength(each),
      odds: odds(each),
    })),
    sentences: [
      together(guarantee, total),
      ...(single ? [alone(epsilon)] : []),
      protectedOrNot(guarantee),
    ],
    conclusions: [
      ...stated.map(([, about, each]) => ({
        about,
        half: chance(HALF, each),
        rare: chance(RARE, each),
      })),
      ...known(guarantee).map((about) => ({ about, half: "known", rare: "known" })),
    ],
  };
}

/**
 * @param {Guarantee} guarantee
 * @param {number} total
 */
function together({ protects, tasks, cells }, total) {
  const counting = cells === null ? tasks : Math.min(cells, tasks);
  let words =
    counting > 1 ? `All ${counting.toLocaleString("en")} answers together` : "The answer";
  words += `: ε = ${amount(total)}`;
  if (protects === "answers" && counting > 1) words += " if all are given, less if some are not";
  if (cells !== null) {
    const questions = counting === 1 ? "1 question" : `${counting.toLocaleString("en")} questions`;
    words =
      `Only ${questions} of ${tasks.toLocaleString("en")} can influence your report, ` +
      `drawn by lot by a public rule that knows no answers. ${words}`;
  }
  const [after, why] = isCountable(total)
    ? [`think at most ${odds(total)}`, `50 % can become ${chance(HALF, total)}`]
    : ["be practically certain", `odds of ${odds(total)}`];
  return (
    `${words}. Whatever else they know, somebody who thought 1 to 1 before about anything that ` +
    `concerns you can ${after} after reading your report (${why}).`
  );
}

/** @param {number} epsilon */
function alone(epsilon) {
  const rise = isCountable(epsilon) ? `at most ${odds(epsilon)}` : odds(epsilon);
  return (
    `A single answer: ε = ${amount(epsilon)}. 1 to 1 can become ${rise} (50 % can become ` +
    `${chance(HALF, epsilon)}), but only if your other answers tell nothing about it. Answers ` +
    "that go together, such as those to similar questions, count together."
  );
}

/** @param {Guarantee} guarantee */
function protectedOrNot(guarantee) {
  const what =
    guarantee.protects === "answers"
      ? "every answer"
      : "every answer, and whether a question was answered or skipped";
  const open = known(guarantee).map((about) => `${about[0].toLowerCase()}${about.slice(1)}`);
  return `Protected: ${what}. Not protected: ${open.join(" and ")}.`;
}

/**
 * What everybody may know of the person.
 * @param {Guarantee} guarantee
 */
function known({ protects }) {
  const took = "That you took part";
  return protects === "answers" ? [took, "Which questions were answered"] : [took];
}
