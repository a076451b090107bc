/**
 * `lp`: discrete Laplace noise on every cell, in grid steps. NULL is first replaced by a constant of
 * the scale or by a uniform draw from it.
 *
 * With P(k) ∝ e^(−rate·|k|) and rate = ε / sensitivity, moving a cell by at most the sensitivity
 * changes every report's probability by at most e^ε; a random replacement is a mixture of such.
 */
import { ForsoothError } from "./error.js";
import { expBounds, floatAbove, fractionOf, logAbove, logIsAtMost } from "./exact.js";
import { aList, anInteger, anObject } from "./json.js";
import { Mechanism } from "./mechanism.js";
import { DiscreteLaplace } from "./noise.js";

/** @typedef {import("./exact.js").Fraction} Fraction */

export const GRIDS = /** @type {const} */ ([-60n, 60n]); // exponents of a grid step
export const REACH = 2n ** 45n; // positions in grid steps: with the noise far within 64 bits
const WORDS = 2n ** 32n;

export class LaplaceMechanism extends Mechanism {
  /** @type {import("./mechanism.js").Exact | undefined} */
  #exact;
  /** @type {DiscreteLaplace | undefined} */
  #noise;

  /** @param {import("./json.js").JsonObject} json */
  constructor(json) {
    super(json);
    const parameters = anObject(json.get("parameters"), "parameters");
    const positions = aList(parameters.get("positions"), "positions");
    this.grid = Number(anInteger(parameters.get("grid"), "grid", ...GRIDS));
    this.positions = positions.map((place) => anInteger(place, "a position", -REACH, REACH));
    this.sensitivity = anInteger(parameters.get("sensitivity"), "sensitivity", 1n, 2n * REACH);
    const constant = parameters.get("null");
    const last = BigInt(this.scale.size - 1);
    /** The code that NULL becomes; null for a uniform draw. */
    this.constant = constant === null ? null : Number(anInteger(constant, "null", 0n, last));
    if (this.positions.length !== this.scale.size) {
      throw new ForsoothError("lp needs one grid position per answer of the scale");
    }
    if (this.#spread() > this.sensitivity) {
      throw new ForsoothError(
        `lp does not keep its promise: two answers lie ${this.#spread()} grid steps apart, ` +
          `the noise is made for ${this.sensitivity}`,
      );
    }
  }

  /** A whole number of grid steps, with its sign. */
  get bits() {
    return 64;
  }

  get exact() {
    this.#exact ??= this.#measure();
    return this.#exact;
  }

  /**
   * Replacement and noise are drawn for every cell, whether it is answered or not.
   * @param {readonly number[]} codes
   * @param {import("./coins.js").Coins} coins
   */
  async randomise(codes, coins) {
    this.#noise ??= new DiscreteLaplace(this.#times(1n));
    const replacements = this.#replacements(codes.length, coins);
    const noise = this.#noise.draw(codes.length, coins);
    return codes.map((code, cell) => {
      const place = [code, replacements[cell]][Number(code === this.scale.size)];
      return this.positions[place] + noise[cell];
    });
  }

  /** @param {number | bigint} steps */
  reading(steps) {
    return Number(steps) * 2 ** this.grid;
  }

  /**
   * @param {number} count
   * @param {import("./coins.js").Coins} coins
   * @returns {number[]}
   */
  #replacements(count, coins) {
    if (this.constant !== null) return new Array(count).fill(this.constant);
    return Array.from(coins.words(count), (word) => Math.floor((word * this.scale.size) / 2 ** 32));
  }

  /**
   * rate × distance, a rational number.
   * @param {bigint} distance
   * @returns {Fraction}
   */
  #times(distance) {
    const { n, d } = fractionOf(this.epsilon);
    return { n: n * distance, d: d * this.sensitivity };
  }

  #measure() {
    const spread = this.#spread();
    const value = floatAbove(this.#times(spread));
    let participation = Infinity;
    if (this.protects === "answers+participation") {
      participation = Math.max(this.replacement.above, this.replacement.below);
    }
    const noise = `the noise is made for ${this.sensitivity} grid steps`;
    const because = {
      value: `two answers lie ${spread} grid steps apart, ${noise}`,
      participation:
        participation === Infinity
          ? "which tasks you answered is public"
          : `a skipped task is filled in, ${noise}`,
    };
    return { value, participation, because };
  }

  #spread() {
    return farthest(this.positions, this.positions);
  }

  /**
   * How far an answer's report may be likelier than that of what replaces NULL (`above`), and the
   * other way round (`below`): log-ratios, rounded up.
   */
  get replacement() {
    if (this.constant === null) return this.#mixture();
    const most = floatAbove(this.#times(farthest(this.positions, [this.positions[this.constant]])));
    return { above: most, below: most };
  }

  /**
   * The largest ln P(y | a) − ln P(y | NULL) over reports y and its opposite, NULL being a uniform
   * mixture.
   *
   * Between two positions both are sums of e^(±rate·y), and outside all of them the ratio is
   * constant: the extremes lie at positions. There P(y | NULL) = c·m(y), P(y | a) = c·e^(−rate·|y−a|),
   * and ln P(y | NULL) − ln P(y | a) reaches from ln m(y) (a = y) to ln m(y) + rate · (y's farthest a).
   */
  #mixture() {
    if (this.#spread() === 0n) return { above: 0, below: 0 };
    const high = floatAbove(this.#times(this.#spread())); // the mixture is not above that
    const size = BigInt(this.scale.size);
    const first = this.positions.map((_, code) => (WORDS * BigInt(code) + size - 1n) / size);
    const share = first.map((start, code) => (first[code + 1] ?? WORDS) - start);
    const density = this.#densities();
    let [above, below] = [0, 0];
    for (const y of this.positions) {
      /** @type {import("./exact.js").Bounds} */
      const mixed = (bits) => {
        const sums = [0n, 0n];
        this.positions.forEach((x, code) => {
          const bounds = density(bits, y - x);
          sums[0] += share[code] * bounds[0];
          sums[1] += share[code] * bounds[1];
        });
        return [sums[0] / WORDS, sums[1] / WORDS + 1n];
      };
      /** @type {import("./exact.js").Bounds} */
      const inverse = (bits) => {
        const [least, most] = mixed(bits);
        const one = 1n << (2n * bits);
        return [one / most, one / least + 1n];
      };
      const far = this.#times(farthest(this.positions, [y]));
      if (!logIsAtMost(below, mixed, far)) below = logAbove(mixed, high, far);
      if (!logIsAtMost(above, inverse, { n: 0n, d: 1n })) above = logAbove(inverse, high);
    }
    return { above, below };
  }

  /** e^(−rate·|distance|), each computed once. */
  #densities() {
    /** @type {Map<string, [bigint, bigint]>} */
    const known = new Map();
    return (/** @type {bigint} */ bits, /** @type {bigint} */ distance) => {
      const length = distance < 0n ? -distance : distance;
      const key = `${bits} ${length}`;
      let bounds = known.get(key);
      if (!bounds) known.set(key, (bounds = expBounds(this.#times(-length), bits)));
      return bounds;
    };
  }
}

/**
 * The largest distance between a position of one list and a position of the other.
 * @param {readonly bigint[]} some
 * @param {readonly bigint[]} others
 */
function farthest(some, others) {
  const ends = (/** @type {readonly bigint[]} */ places) => [
    places.reduce((a, b) => (b < a ? b : a)),
    places.reduce((a, b) => (b > a ? b : a)),
  ];
  const [[low, high], [least, most]] = [ends(some), ends(others)];
  return high - least > most - low ? high - least : most - low;
}
