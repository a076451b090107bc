/**
 * unit = worker: ε for everything one worker says, instead of ε per cell.
 *
 * Each worker reports on `count` tasks only. A public seed and the worker's public name choose them,
 * and no answer does; so every client and the collector draw the same, and the other tasks cannot
 * influence the report. Each of the cells goes through an ordinary mechanism with its share of ε.
 */
import { sampledTasks } from "./assignment.js";
import { ForsoothError } from "./error.js";
import { fractionOf, timesAbove } from "./exact.js";
import { anInteger, anObject, aText } from "./json.js";
import { Mechanism } from "./mechanism.js";

export class SampledTasks extends Mechanism {
  /**
   * @param {import("./json.js").JsonObject} json
   * @param {(text: string) => Mechanism} read verifies the mechanism of one cell
   */
  constructor(json, read) {
    super(json);
    const parameters = anObject(json.get("parameters"), "parameters");
    this.inner = read(aText(parameters.get("inner"), "inner"));
    this.count = Number(anInteger(parameters.get("count"), "count", 1n));
    this.seed = anInteger(parameters.get("seed"), "seed", 0n);
    if (!this.inner.isCellwise || this.inner.cells !== null) {
      throw new ForsoothError(`${this.inner.name} cannot be used on sampled tasks`);
    }
    const [asked, used] = [this.scale, this.inner.scale].map(({ labels }) => JSON.stringify(labels));
    if (asked !== used || this.inner.protects !== this.protects) {
      throw new ForsoothError("the sampled mechanism must have the same scale and protection");
    }
    const [cell, whole] = [fractionOf(this.inner.epsilon), fractionOf(this.epsilon)];
    if (BigInt(this.count) * cell.n * whole.d > whole.n * cell.d) {
      throw new ForsoothError(
        `refused: ${this.count} cells with ε = ${this.inner.epsilon} each spend more than the ` +
          `worker's ε = ${this.epsilon}`,
      );
    }
  }

  /** For the whole worker: every sampled cell at its worst, and the ratios multiply. */
  get exact() {
    const { value, participation, because } = this.inner.exact;
    return { value: this.#times(value), participation: this.#times(participation), because };
  }

  get bits() {
    return this.inner.bits;
  }

  get cell() {
    return this.inner;
  }

  get cells() {
    return this.count;
  }

  /**
   * @param {number} tasks
   * @param {string} worker
   */
  async eligible(tasks, worker) {
    if (this.count > tasks) {
      throw new ForsoothError(`refused: ${this.count} of ${tasks} tasks cannot be sampled`);
    }
    return sampledTasks(this.seed, worker, tasks, this.count);
  }

  /**
   * @param {readonly number[]} codes of eligible cells
   * @param {import("./coins.js").Coins} coins
   * @param {string} worker
   */
  randomise(codes, coins, worker) {
    return this.inner.randomise(codes, coins, worker);
  }

  /** @param {number | bigint} value */
  reading(value) {
    return this.inner.reading(value);
  }

  /** @param {number | bigint} value */
  likeliest(value) {
    return this.inner.likeliest(value);
  }

  /** @param {number} epsilon */
  #times(epsilon) {
    return Number.isFinite(epsilon) ? timesAbove(epsilon, this.count) : epsilon;
  }
}
