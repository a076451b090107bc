/** Where the coins come from: the browser's or Node's cryptographic generator, nothing else. */

/** @typedef {{words(count: number): Uint32Array}} Coins uniform 32-bit words, independent */

const MOST_WORDS = 65536 / 4; // what one call of getRandomValues gives

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

/**
 * Coins that are tossed once: every replay begins anew, and they fall as before.
 *
 * A worker who looks at a report and then corrects an answer gets the same coins again. Otherwise
 * one could toss until the report says what one likes, and it would no longer be the table's.
 */
export class FixedCoins {
  #tossed = new Uint32Array(0);

  /** @returns {Coins} */
  replay() {
    let next = 0;
    return {
      words: (count) => {
        next += count;
        this.#toss(next - this.#tossed.length);
        return this.#tossed.slice(next - count, next);
      },
    };
  }

  /** @param {number} more */
  #toss(more) {
    if (more <= 0) return;
    const all = new Uint32Array(this.#tossed.length + more);
    all.set(this.#tossed);
    all.set(secureWords(more), this.#tossed.length);
    this.#tossed = all;
  }
}
