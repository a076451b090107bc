/** Public coins: what a campaign assigns to a worker, from a public seed and the worker's name. */
import { sha256 } from "./bytes.js";

/**
 * A 64-bit number per task, the same for everybody who knows the seed and the name: the first 64
 * bits of SHA-256("seed:worker"), mixed with the task's place by splitmix64.
 * @param {bigint} seed
 * @param {string} worker
 * @param {number} tasks
 */
export async function publicWords(seed, worker, tasks) {
  const digest = await sha256(new TextEncoder().encode(`${seed}:${worker}`));
  const key = new DataView(digest.buffer).getBigUint64(0);
  const words = new BigUint64Array(tasks);
  for (let task = 0; task < tasks; task++) {
    let word = BigInt.asUintN(64, key + BigInt(task + 1) * 0x9e3779b97f4a7c15n);
    word = BigInt.asUintN(64, (word ^ (word >> 30n)) * 0xbf58476d1ce4e5b9n);
    word = BigInt.asUintN(64, (word ^ (word >> 27n)) * 0x94d049bb133111ebn);
    words[task] = word ^ (word >> 31n);
  }
  return words;
}

/**
 * `count` distinct tasks, in order: those with the smallest words, no two of which are equal.
 * @param {bigint} seed
 * @param {string} worker
 * @param {number} tasks
 * @param {number} count
 */
export async function sampledTasks(seed, worker, tasks, count) {
  const words = await publicWords(seed, worker, tasks);
  const chosen = [...words.keys()].sort((a, b) => (words[a] < words[b] ? -1 : 1));
  return chosen.slice(0, count).sort((a, b) => a - b);
}
