/**
 * ε as odds, for people: how far a report can move its reader, and how strong that promise is.
 *
 * By Bayes' theorem a report multiplies the odds between two things that ε covers by a factor of at
 * most e^ε. Numbers are rounded up, since each of them states a bound. `forsooth/odds.py` says the
 * same, with the reasons for the limits; `vectors/verification/promises.json` is shared.
 */

/** @typedef {"strong" | "moderate" | "weak" | "very weak"} Strength */

/** e^ε up to which a promise is called so. @type {readonly (readonly [Strength, number])[]} */
const LIMITS = [
  ["strong", 3],
  ["moderate", 19],
  ["weak", 999],
];
const COUNTABLE = 1e6; // larger odds are not written out: nobody can tell them apart
const FLOAT = 1e-12; // relative: far above what floats make of 3 × 0.1, far below six digits
export const HALF = 0.5; // what a reader may have thought before
export const RARE = 0.01;

/**
 * How strong the promise of ε is, as one of four words.
 * @param {number} epsilon
 * @returns {Strength}
 */
export function strength(epsilon) {
  return LIMITS.find(([, most]) => epsilon <= Math.log(most))?.[0] ?? "very weak";
}

/**
 * Are the odds small enough to be written out?
 * @param {number} epsilon
 */
export function isCountable(epsilon) {
  return epsilon <= Math.log(COUNTABLE);
}

/**
 * ε with six digits, rounded up; what floats make of a decimal number does not count.
 * @param {number} epsilon
 */
export function amount(epsilon) {
  const shown = Number(epsilon.toPrecision(6));
  if (shown >= epsilon * (1 - FLOAT)) return String(shown);
  return String(Number((shown + 10 ** (Math.floor(Math.log10(shown)) - 5)).toPrecision(6)));
}

/**
 * The odds that 1 to 1 can become: "2.8 to 1" for ε = 1.
 * @param {number} epsilon
 */
export function odds(epsilon) {
  if (!isCountable(epsilon)) return `more than ${grouped(COUNTABLE)} to 1`;
  const factor = Math.exp(epsilon);
  const most = factor < 10 ? upToTenths(factor) : grouped(Math.ceil(factor));
  return `${most} to 1`;
}

/**
 * The probability that `before` can become, in per cent: "74 %" for ½ and ε = 1.
 * @param {number} before
 * @param {number} epsilon
 */
export function chance(before, epsilon) {
  const share = 100 / (1 + ((1 - before) / before) * Math.exp(-epsilon));
  if (share > 99.9) return "over 99.9 %";
  return `${share >= 10 && share <= 99 ? Math.ceil(share) : upToTenths(share)} %`;
}

/** @param {number} number */
function upToTenths(number) {
  return (Math.ceil(10 * number) / 10).toFixed(1);
}

/** @param {number} number */
function grouped(number) {
  return number.toLocaleString("en");
}
