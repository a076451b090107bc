/** What every mechanism is: public data that says how a worker turns answers into a report. */
import { ForsoothError } from "./error.js";
import { timesAbove } from "./exact.js";
import { aNumber, aText, shown } from "./json.js";
import { Scale } from "./scale.js";

/** @typedef {import("./json.js").JsonObject} JsonObject */
/** @typedef {import("./coins.js").Coins} Coins */
/** @typedef {"answers+participation" | "answers"} Protects */

/**
 * The exact ε for each kind of neighbours, rounded up. Value neighbours differ in one answer,
 * participation neighbours in whether it was given (Infinity where that is public).
 * @typedef {object} Exact
 * @property {number} value
 * @property {number} participation
 * @property {{value: string, participation: string}} because what shows it, in words
 */

const LARGEST_EPSILON = 1e6;
const PROTECTS = ["answers+participation", "answers"];

/** @abstract */
export class Mechanism {
  /** @param {JsonObject} json */
  constructor(json) {
    this.name = aText(json.get("name"), "name");
    this.scale = new Scale(json.get("scale"));
    this.epsilon = checkEpsilon(aNumber(json.get("epsilon"), "ε"));
    this.protects = checkProtects(json.get("protects"));
  }

  /**
   * @abstract
   * @returns {Exact}
   */
  get exact() {
    throw new Error("a mechanism knows its exact ε");
  }

  /**
   * How many bits a value takes in the report.
   * @abstract
   * @returns {number}
   */
  get bits() {
    throw new Error("a mechanism knows how it writes a value");
  }

  /**
   * "rows": every worker sends equally many values, whatever was answered; "cells": one value for
   * every answered cell, where participation is public.
   * @returns {"rows" | "cells"}
   */
  get layout() {
    return this.protects === "answers+participation" ? "rows" : "cells";
  }

  /** @returns {Mechanism} what one cell goes through: the mechanism itself, if ε is per cell */
  get cell() {
    return this;
  }

  /** @returns {number | null} how many cells of a worker can influence a report; null: all */
  get cells() {
    return null;
  }

  /**
   * ε for everything one worker says, at most; rounded up.
   * @param {number} tasks of the campaign
   */
  total(tasks) {
    return this.cells === null ? timesAbove(this.epsilon, tasks) : this.epsilon;
  }

  /**
   * The tasks that can influence a worker's report, in order: all, unless a public rule chooses.
   * @param {number} tasks how many the campaign has
   * @param {string} _worker the worker's public name
   * @returns {Promise<number[]>}
   */
  async eligible(tasks, _worker) {
    return [...new Array(tasks).keys()];
  }

  /** Does every cell have a value of its own in the report? */
  get isCellwise() {
    return true;
  }

  /**
   * The values that leave the worker.
   * @abstract
   * @param {readonly number[]} _codes a position on the scale per eligible cell, NULL being `scale.size`
   * @param {Coins} _coins
   * @param {string} _worker the worker's public name
   * @returns {Promise<(number | bigint)[]>}
   */
  randomise(_codes, _coins, _worker) {
    throw new Error("a mechanism can randomise");
  }

  /**
   * The number as which a reported value is read, null where it is read as NULL.
   * @abstract
   * @param {number | bigint} _value
   * @returns {number | null}
   */
  reading(_value) {
    throw new Error("a mechanism can read what it sends");
  }

  /**
   * The answers (null: NULL) that send a value most often; null where values are numbers with noise.
   * @param {number | bigint} _value
   * @returns {(string | null)[] | null}
   */
  likeliest(_value) {
    return null;
  }
}

/** @param {number} epsilon */
export function checkEpsilon(epsilon) {
  if (!(typeof epsilon === "number" && epsilon > 0 && epsilon <= LARGEST_EPSILON)) {
    const most = LARGEST_EPSILON;
    throw new ForsoothError(`ε must be above 0 (and at most ${most}), got ${shown(epsilon)}`);
  }
  return epsilon;
}

/**
 * @param {unknown} protects
 * @returns {Protects}
 */
export function checkProtects(protects) {
  if (!PROTECTS.includes(aText(protects, "protects"))) {
    throw new ForsoothError(
      `protects must be one of ${PROTECTS.join(", ")}; got ${shown(protects)}`,
    );
  }
  return /** @type {Protects} */ (protects);
}
