/**
 * Discrete Laplace noise: integers k with probability proportional to e^(−rate·|k|), exactly.
 *
 * The difference of two geometric variables. The binary digits of a geometric variable are
 * independent, digit i being 1 with probability 1 / (1 + e^(rate·2^i)); what lies beyond the highest
 * digit drawn is geometric again. A digit compares random bits with the binary digits of that
 * probability, 32 at a time, and goes on only in the case (2^−32) that all of them are equal.
 *
 * Coins are taken in the same order as forsooth's Python does: same coins, same noise.
 */
import { ForsoothError } from "./error.js";
import { expBounds } from "./exact.js";

/** @typedef {import("./exact.js").Fraction} Fraction */
/** @typedef {import("./coins.js").Coins} Coins */

const BLOCK = 2 ** 16;
const TAIL = 50n; // the tail begins where less than e^−50 of the probability is left
const LONGEST_NOISE = 60n; // binary digits: sums stay within 64

export class DiscreteLaplace {
  /** @type {Probability[]} */
  #digits = [];
  /** @type {Probability} */
  #beyond;

  /** @param {Fraction} rate */
  constructor({ n, d }) {
    let digits = 1n;
    while (n << digits < TAIL * d) digits++;
    if (digits > LONGEST_NOISE) {
      throw new ForsoothError(
        "ε is too small for noise on this grid: it would not fit into 64 bits",
      );
    }
    for (let digit = 0n; digit < digits; digit++) {
      this.#digits.push(new Probability({ n: n << digit, d }, true));
    }
    this.#beyond = new Probability({ n: n << digits, d }, false);
  }

  /**
   * @param {number} count
   * @param {Coins} coins
   * @returns {BigInt64Array}
   */
  draw(count, coins) {
    const noise = new BigInt64Array(count);
    for (let start = 0; start < count; start += BLOCK) {
      const part = noise.subarray(start, start + BLOCK);
      const up = this.#geometric(part.length, coins);
      const down = this.#geometric(part.length, coins);
      for (let place = 0; place < part.length; place++) part[place] = up[place] - down[place];
    }
    return noise;
  }

  /**
   * Independent draws with P(G ≥ k) = e^(−rate·k).
   * @param {number} count
   * @param {Coins} coins
   */
  #geometric(count, coins) {
    const total = new BigInt64Array(count);
    this.#digits.forEach((chance, digit) => {
      const heads = chance.toss(count, coins);
      for (let place = 0; place < count; place++)
        total[place] += BigInt(heads[place]) << BigInt(digit);
    });
    const step = 1n << BigInt(this.#digits.length);
    let more = Array.from(total.keys());
    for (;;) {
      const heads = this.#beyond.toss(more.length, coins);
      more = more.filter((_, index) => heads[index]);
      if (more.length === 0) return total;
      for (const place of more) total[place] += step;
    }
  }
}

/** A real probability whose binary digits can be had one block after the other. */
class Probability {
  #exponent;
  #logistic;
  #threshold;

  /**
   * 1 / (1 + e^x) or e^−x for a rational x > 0.
   * @param {Fraction} x
   * @param {boolean} logistic
   */
  constructor({ n, d }, logistic) {
    this.#exponent = { n: -n, d };
    this.#logistic = logistic;
    this.#threshold = Number(this.#firstDigits(32n));
  }

  /**
   * `count` independent coins that show 1 with exactly this probability.
   * @param {number} count
   * @param {Coins} coins
   */
  toss(count, coins) {
    const words = coins.words(count);
    const heads = new Uint8Array(count);
    for (let place = 0; place < count; place++)
      heads[place] = Number(words[place] < this.#threshold);
    for (let place = 0; place < count; place++) {
      if (words[place] === this.#threshold) heads[place] = Number(this.#settle(coins));
    }
    return heads;
  }

  /**
   * The first 32 bits are equal: compare the next ones, and the next, until they differ.
   * @param {Coins} coins
   */
  #settle(coins) {
    for (let bits = 64n; ; bits += 32n) {
      const digits = Number(this.#firstDigits(bits) & 0xffffffffn);
      const [word] = coins.words(1);
      if (word !== digits) return word < digits;
    }
  }

  /**
   * ⌊2^bits · p⌋. e^x is transcendental, so enough bits always settle the floor.
   * @param {bigint} bits
   */
  #firstDigits(bits) {
    for (let precision = bits + 64n; ; precision *= 2n) {
      let [low, high] = expBounds(this.#exponent, precision);
      if (this.#logistic) {
        const one = 1n << precision;
        low = (low << precision) / (one + low);
        high = (high << precision) / (one + high) + 1n;
      }
      const spare = precision - bits;
      if (low >> spare === high >> spare) return low >> spare;
    }
  }
}
