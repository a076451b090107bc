/**
 * Channels: exact integer tables P(report symbol | answer or NULL).
 *
 * Every row has integer weights that sum to 2³²; a draw takes 32 uniform bits and walks the row, so
 * the probability *is* the weight, and ε = max over columns of ln(largest / smallest weight).
 */
import { ForsoothError } from "./error.js";
import { logRatio } from "./exact.js";
import { aList, aNumber, anInteger, anObject } from "./json.js";
import { Mechanism } from "./mechanism.js";

/** @typedef {{larger: number, smaller: number, likely: number, unlikely: number, symbol: number}} Ratio */

export const TOTAL = 2 ** 32; // the weights of a row sum to it
const ROUNDED = 1e-6; // of a weight: by this much rounding a row to integers can move it

export class ChannelMechanism extends Mechanism {
  /** @type {import("./mechanism.js").Exact | undefined} */
  #exact;

  /** @param {import("./json.js").JsonObject} json */
  constructor(json) {
    super(json);
    const parameters = anObject(json.get("parameters"), "parameters");
    const readings = aList(parameters.get("reads_as"), "reads_as");
    /** @type {readonly (number | null)[]} */
    this.readsAs = readings.map((r) => (r === null ? null : this.#onScale(aNumber(r, "reads_as"))));
    const rows = aList(parameters.get("weights"), "weights").map((row) => aList(row, "weights"));
    const inputs = this.scale.size + Number(this.protects === "answers+participation");
    if (rows.length !== inputs || !rows.every((row) => row.length === this.readsAs.length)) {
      throw new ForsoothError(
        `the scale ${this.scale} with protects = ${this.protects} needs a table of ${inputs} rows ` +
          `and as many columns as symbols (${this.readsAs.length})`,
      );
    }
    /** @type {readonly (readonly number[])[]} */
    this.weights = rows.map((row, index) => this.#row(row, index));
    /** Cumulative weights, row after row; the last of a row (2³²) is left out. */
    this.thresholds = new Uint32Array(inputs * (this.symbols - 1));
    this.weights.forEach((row, index) => {
      let sum = 0;
      for (let symbol = 0; symbol < this.symbols - 1; symbol++) {
        sum += row[symbol];
        this.thresholds[index * (this.symbols - 1) + symbol] = sum;
      }
    });
  }

  get symbols() {
    return this.readsAs.length;
  }

  /** As many as a symbol needs. */
  get bits() {
    return Math.max(1, 32 - Math.clz32(this.symbols - 1));
  }

  get exact() {
    this.#exact ??= this.#measure();
    return this.#exact;
  }

  /**
   * A symbol per cell: how many cumulative weights 32 random bits reach. Every cell is compared
   * with every threshold of its row: the same steps for every input.
   * @param {readonly number[]} codes
   * @param {import("./coins.js").Coins} coins
   */
  async randomise(codes, coins) {
    const words = coins.words(codes.length);
    const width = this.symbols - 1;
    return codes.map((code, cell) => {
      let symbol = 0;
      for (let place = code * width; place < (code + 1) * width; place++) {
        symbol += Number(words[cell] >= this.thresholds[place]);
      }
      return symbol;
    });
  }

  /** @param {number | bigint} symbol */
  reading(symbol) {
    return this.readsAs[Number(symbol)];
  }

  /**
   * The answers that send a symbol most often; several where the table merges them.
   * @param {number | bigint} symbol
   */
  likeliest(symbol) {
    const column = this.weights.map((row) => row[Number(symbol)]);
    const most = Math.max(...column) * (1 - ROUNDED);
    return column.flatMap((weight, code) =>
      weight >= most ? [this.scale.labels[code] ?? null] : [],
    );
  }

  /** @param {number} reading */
  #onScale(reading) {
    if (reading < this.scale.low || reading > this.scale.high) {
      throw new ForsoothError(`a symbol reads as ${reading}, off the scale ${this.scale}`);
    }
    return reading;
  }

  /**
   * @param {import("./json.js").Json[]} json
   * @param {number} index
   */
  #row(json, index) {
    const row = json.map((weight) => anInteger(weight, "a weight", undefined, BigInt(TOTAL)));
    const sum = row.reduce((total, weight) => total + weight, 0n);
    const never = row.findIndex((weight) => weight < 1n);
    if (never >= 0) {
      throw new ForsoothError(
        `${this.#who(index)} can never send the report ${never} (weight ${row[never]}): whoever sees ` +
          "that report would know something for certain. Every weight must be at least 1",
      );
    }
    if (sum !== BigInt(TOTAL)) {
      throw new ForsoothError(`row ${index} of the table sums to ${sum}, not to 2^32`);
    }
    return row.map(Number);
  }

  #measure() {
    const answers = this.scale.labels.map((_, code) => code);
    const value = this.#worst(answers, answers);
    const measured = { value: this.#log(value), participation: Infinity };
    const because = {
      value: this.#says(value),
      participation: "which tasks you answered is public",
    };
    if (this.protects === "answers+participation") {
      const presence = this.#worst(answers, [this.scale.size]);
      measured.participation = this.#log(presence);
      because.participation = this.#says(presence);
    }
    return { ...measured, because };
  }

  /**
   * The two inputs, one of each group, and the symbol with the largest ratio, either way round.
   * @param {readonly number[]} some
   * @param {readonly number[]} others
   * @returns {Ratio}
   */
  #worst(some, others) {
    let worst = { larger: 1, smaller: 1, likely: 0, unlikely: 0, symbol: 0 };
    for (let symbol = 0; symbol < this.symbols; symbol++) {
      const weight = (/** @type {number} */ row) => this.weights[row][symbol];
      for (const [group, rest] of [
        [some, others],
        [others, some],
      ]) {
        const likely = group.reduce((best, row) => (weight(row) > weight(best) ? row : best));
        const unlikely = rest.reduce((best, row) => (weight(row) < weight(best) ? row : best));
        const [larger, smaller] = [weight(likely), weight(unlikely)];
        if (BigInt(larger) * BigInt(worst.smaller) > BigInt(worst.larger) * BigInt(smaller)) {
          worst = { larger, smaller, likely, unlikely, symbol };
        }
      }
    }
    return worst;
  }

  /** @param {Ratio} ratio */
  #log({ larger, smaller }) {
    return logRatio(larger, smaller);
  }

  /** @param {Ratio} ratio */
  #says({ larger, smaller, likely, unlikely, symbol }) {
    const times = (larger / smaller).toPrecision(3);
    return (
      `the report ${symbol} is ${Number(times)} times as likely from ${this.#who(likely)} as from ` +
      `${this.#who(unlikely)} (weights ${larger} and ${smaller})`
    );
  }

  /** @param {number} row */
  #who(row) {
    const label = this.scale.labels[row];
    return label === undefined ? "somebody who did not answer" : `somebody who answered “${label}”`;
  }
}
