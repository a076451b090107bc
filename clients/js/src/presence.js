/**
 * `rr-lp`: randomized response for whether a cell is answered, discrete Laplace noise for its value.
 *
 * With ε₁ of the first step and ε₂ of the `lp` within, every cell is protected with ε₁ + ε₂: a value
 * is reported of an answer with probability p·f, of a skipped cell with (1 − p)·m, where
 * p / (1 − p) ≤ e^ε₁ and f and m are within e^ε₂; the report "not answered" has the ratio p / (1 − p).
 */
import { TOTAL } from "./channel.js";
import { ForsoothError } from "./error.js";
import { floatAbove, fractionOf, logRatio } from "./exact.js";
import { anInteger, anObject, aText } from "./json.js";
import { LaplaceMechanism } from "./laplace.js";
import { Mechanism } from "./mechanism.js";

/** @typedef {import("./exact.js").Fraction} Fraction */

export const NOT_ANSWERED = -(2n ** 63n); // the noise stays far from it

export class PresenceLaplace extends Mechanism {
  /** @type {import("./mechanism.js").Exact | undefined} */
  #exact;

  /**
   * @param {import("./json.js").JsonObject} json
   * @param {(text: string) => Mechanism} read verifies the mechanism of the value
   */
  constructor(json, read) {
    super(json);
    const parameters = anObject(json.get("parameters"), "parameters");
    const inner = read(aText(parameters.get("inner"), "inner"));
    const most = BigInt(TOTAL);
    this.keep = Number(anInteger(parameters.get("keep"), "keep", most / 2n, most - 1n));
    if (this.protects !== "answers+participation") {
      throw new ForsoothError("rr-lp protects participation; where that is public, lp is used");
    }
    if (!(inner instanceof LaplaceMechanism)) {
      throw new ForsoothError(`rr-lp has an lp within, not ${inner.name}`);
    }
    this.inner = inner;
    const [asked, used] = [this.scale, inner.scale].map(({ labels }) => JSON.stringify(labels));
    if (asked !== used || inner.protects !== this.protects) {
      throw new ForsoothError("the lp within rr-lp must have the same scale and protection");
    }
    /** ε₁, rounded up. */
    this.presence = logRatio(this.keep, TOTAL - this.keep);
    const spent = sum(fractionOf(this.presence), fractionOf(inner.epsilon));
    const { n, d } = fractionOf(this.epsilon);
    if (spent.n * d > n * spent.d) {
      throw new ForsoothError(
        `refused: rr-lp spends ${this.presence} on participation and ${inner.epsilon} on values, ` +
          `more than its ε = ${this.epsilon}`,
      );
    }
  }

  /** A whole number of grid steps, with its sign. */
  get bits() {
    return this.inner.bits;
  }

  get exact() {
    this.#exact ??= this.#measure();
    return this.#exact;
  }

  /**
   * Both steps are taken for every cell, whatever the outcome of the first.
   * @param {readonly number[]} codes
   * @param {import("./coins.js").Coins} coins
   */
  async randomise(codes, coins) {
    const words = coins.words(codes.length);
    const noisy = await this.inner.randomise(codes, coins);
    return codes.map((code, cell) => {
      const truthful = words[cell] < this.keep;
      return [NOT_ANSWERED, noisy[cell]][Number((code !== this.scale.size) === truthful)];
    });
  }

  /** @param {number | bigint} steps */
  reading(steps) {
    return BigInt(steps) === NOT_ANSWERED ? null : this.inner.reading(steps);
  }

  #measure() {
    const { value, because } = this.inner.exact;
    const { above, below } = this.inner.replacement;
    const first = fractionOf(this.presence);
    const skipped = floatAbove(sum(first, fractionOf(above)));
    const answered = fractionOf(below);
    const rest = sum(answered, { n: -first.n, d: first.d });
    const participation = Math.max(skipped, rest.n > 0n ? floatAbove(rest) : 0);
    const odds = `whether you answered is reported truthfully ${this.keep} times out of ${TOTAL}`;
    return { value, participation, because: { value: because.value, participation: odds } };
  }
}

/**
 * @param {Fraction} a
 * @param {Fraction} b
 * @returns {Fraction}
 */
function sum(a, b) {
  return { n: a.n * b.d + b.n * a.d, d: a.d * b.d };
}
