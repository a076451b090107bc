/** Mechanisms for tests: the vectors' own, and tables made by hand. */
import { readFileSync } from "node:fs";

export const TOTAL = 2 ** 32;

/**
 * A mechanism's JSON text from the vectors.
 * @param {string} name
 */
export function vectorText(name) {
  const file = readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), "utf8");
  return JSON.stringify(JSON.parse(file).mechanism);
}

/**
 * A channel over “no”, “yes” and NULL.
 * @param {number[][]} weights
 * @param {object} [changes]
 */
export function tableText(weights, changes = {}) {
  return JSON.stringify({
    forsooth: 1,
    kind: "channel",
    name: "rr",
    scale: ["no", "yes"],
    epsilon: 1,
    protects: "answers+participation",
    parameters: { weights, reads_as: weights[0].map(() => null) },
    ...changes,
  });
}
