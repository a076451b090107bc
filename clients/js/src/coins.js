/** Where the coins come from: the browser's or Node's cryptographic generator, nothing else. */

/** @typedef {{words(count: number): Uint32Array}} Coins uniform 32-bit words, independent */

const MOST_WORDS = 65536 / 4; // what one call of getRandomValues gives
const SEED_BYTES = 32; // a key of AES-256
const FIRST_WORDS = 256; // more than the noise on one number takes
const TOO_FEW = new Error("more coins are needed");

/**
 * @param {number} count
 * @returns {Uint32Array<ArrayBuffer>}
 */
export function secureWords(count) {
  const words = new Uint32Array(count);
  for (let start = 0; start < count; start += MOST_WORDS) {
    crypto.getRandomValues(words.subarray(start, start + MOST_WORDS));
  }
  return words;
}

/** Fresh coins at every call. */
export const secureCoins = { words: secureWords };

/** @returns {Uint8Array<ArrayBuffer>} what coins are made of that are tossed once and fall as before */
export function newSeed() {
  return crypto.getRandomValues(new Uint8Array(SEED_BYTES));
}

/**
 * Draw with the coins of a seed: AES-256 in counter mode. The same seed gives the same coins.
 *
 * A worker who looks at a report, and then reloads the page or corrects an answer, gets the same coins
 * again. Otherwise one could toss until the report says what one likes, and it would no longer be
 * the table's.
 * @template T
 * @param {Uint8Array<ArrayBuffer>} seed
 * @param {(coins: Coins) => Promise<T>} draw begins anew with more coins if there were too few
 * @returns {Promise<T>}
 */
export async function drawWith(seed, draw) {
  const key = await crypto.subtle.importKey("raw", seed, "AES-CTR", false, ["encrypt"]);
  const counting = { name: "AES-CTR", counter: new Uint8Array(16), length: 64 };
  for (let length = FIRST_WORDS; ; length *= 4) {
    const stream = new Uint32Array(
      await crypto.subtle.encrypt(counting, key, new Uint8Array(4 * length)),
    );
    let next = 0;
    const words = (/** @type {number} */ count) => {
      next += count;
      if (next > length) throw TOO_FEW;
      return stream.slice(next - count, next);
    };
    try {
      return await draw({ words });
    } catch (error) {
      if (error !== TOO_FEW) throw error;
    }
  }
}
