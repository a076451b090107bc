/**
 * `mf-safe`: two noisy sketches of d numbers each, values and presence, over the answered tasks.
 *
 * Task j has a public profile: ±1 in one of d places. An answer adds ±(a − centre) to the values
 * and ±κ to the presence there, a NULL adds nothing. One cell moves both together by at most Δ in
 * 1-norm, and noise with P(k) ∝ e^(−ε|k|/Δ) on each of the 2d numbers makes that ε.
 */
import { publicWords } from "./assignment.js";
import { ForsoothError } from "./error.js";
import { floatAbove, fractionOf } from "./exact.js";
import { aList, anInteger, anObject } from "./json.js";
import { GRIDS, REACH } from "./laplace.js";
import { Mechanism } from "./mechanism.js";
import { DiscreteLaplace } from "./noise.js";

const MOST_PLACES = 2n ** 20n;

export class SafeFactorization extends Mechanism {
  /** @param {import("./json.js").JsonObject} json */
  constructor(json) {
    super(json);
    const parameters = anObject(json.get("parameters"), "parameters");
    const centred = aList(parameters.get("centred"), "centred");
    this.places = Number(anInteger(parameters.get("d"), "d", 1n, MOST_PLACES));
    this.grid = Number(anInteger(parameters.get("grid"), "grid", ...GRIDS));
    this.centred = centred.map((place) => anInteger(place, "a position", -REACH, REACH));
    this.presence = anInteger(parameters.get("presence"), "presence", 1n, REACH);
    this.sensitivity = anInteger(parameters.get("sensitivity"), "sensitivity", 1n, 2n * REACH);
    this.seed = anInteger(parameters.get("seed"), "seed", 0n);
    if (this.centred.length !== this.scale.size) {
      throw new ForsoothError("mf-safe needs one position per answer of the scale");
    }
    const { value, participation } = this.#moved();
    const moved = value > participation ? value : participation;
    if (moved > this.sensitivity) {
      throw new ForsoothError(
        `mf-safe does not keep its promise: one cell moves the sketches by ${moved} grid steps, ` +
          `the noise is made for ${this.sensitivity}`,
      );
    }
  }

  /** A whole number of grid steps, with its sign. */
  get bits() {
    return 64;
  }

  /** @returns {"rows"} */
  get layout() {
    return "rows";
  }

  get isCellwise() {
    return false;
  }

  get exact() {
    const { value, participation } = this.#moved();
    const noise = `the noise is made for ${this.sensitivity}`;
    return {
      value: floatAbove(this.#times(value)),
      participation: floatAbove(this.#times(participation)),
      because: {
        value: `changing an answer moves the sketches by ${value} grid steps, ${noise}`,
        participation: `skipping a task moves the sketches by ${participation} grid steps, ${noise}`,
      },
    };
  }

  /**
   * @param {readonly number[]} codes
   * @param {import("./coins.js").Coins} coins
   * @param {string} worker
   */
  async randomise(codes, coins, worker) {
    const sketches = new BigInt64Array(2 * this.places);
    const value = [...this.centred, 0n];
    const present = [...this.centred.map(() => this.presence), 0n];
    const words = await publicWords(this.seed, worker, codes.length);
    codes.forEach((code, task) => {
      const place = Number(((words[task] >> 32n) * BigInt(this.places)) >> 32n);
      const sign = words[task] & 1n ? 1n : -1n;
      sketches[place] += sign * value[code];
      sketches[place + this.places] += sign * present[code];
    });
    const noise = new DiscreteLaplace(this.#times(1n)).draw(sketches.length, coins);
    return Array.from(sketches, (number, place) => number + noise[place]);
  }

  /** A single number says nothing about a single task. */
  reading() {
    return null;
  }

  /** How far one cell can move the sketches, in grid steps, for each kind of neighbours. */
  #moved() {
    const sorted = [...this.centred].sort((a, b) => (a < b ? -1 : Number(a > b)));
    const [low, high] = [sorted[0], sorted[sorted.length - 1]];
    return { value: high - low, participation: (high > -low ? high : -low) + this.presence };
  }

  /** @param {bigint} steps */
  #times(steps) {
    const { n, d } = fractionOf(this.epsilon);
    return { n: n * steps, d: d * this.sensitivity };
  }
}
