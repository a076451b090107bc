/**
 * What a device keeps of one person: what was drawn for each question, and one report per campaign.
 *
 * For a question, a rule and its words for the answers there is one draw, ever. Asked again by any
 * campaign, the same value is sent again and tells nothing new, whatever the answer is by then. So
 * what was drawn is the ledger too: ε adds up over the draws of a question, and over all of them.
 * `docs/formats.md` describes the text; forsooth's Python keeps the same.
 */
import { base64, fromBase64 } from "./bytes.js";
import { newSeed } from "./coins.js";
import { ForsoothError } from "./error.js";
import { floatAbove, fractionOf } from "./exact.js";
import { aNumber, anInteger, anObject, aText, aTruth, parseJson } from "./json.js";
import { checkEpsilon } from "./mechanism.js";

/** @typedef {import("./question.js").Cell} Cell */
/** @typedef {{epsilon: number, value: string | null}} Drawn the value is null for a share of a sketch */
/** @typedef {{cap?: number, questionCap?: number}} Caps */

/**
 * A report as it was sent, without the answers.
 * @typedef {object} Kept
 * @property {string} invitation
 * @property {string} design
 * @property {string} tasks fingerprint of the list of tasks
 * @property {string | null} body what is sent again; null: it was there and is gone
 * @property {boolean} accepted
 * @property {Blinding | null} [anonymous]
 */

/**
 * How a report of an anonymous campaign gets its token, and when it is sent: with a token, `due` is the
 * time in seconds since 1970, and the rest of the blinding is gone.
 * @typedef {object} Blinding
 * @property {string} invitation
 * @property {string | null} blinded base64
 * @property {string | null} inverse hexadecimal: takes the blinding away
 * @property {number | null} due
 */

const MEMORY_FORMAT = 1n;
const UNIT = 2n ** 1074n; // every float is a whole number of 2^−1074

/** ε for repeats of one question: together they stay "strong", odds of 3 to 1 at most. */
export const QUESTION_CAP = 1.09;
/** ε for everything: beyond "weak", odds of 999 to 1, nearly all can be concluded. */
export const TOTAL_CAP = 6.9;

export class Memory {
  /** @type {Map<string, Map<string, Drawn>>} by question and draw */
  #drawn = new Map();
  /** @type {Map<string, Kept>} by address */
  campaigns = new Map();
  /** @type {Map<string, string>} seeds of what was drawn and not yet sent */
  #coins = new Map();
  /** @type {Map<string, string>} made for open and anonymous links not yet answered, by address */
  #tokens = new Map();

  /** @param {string | undefined} text */
  static read(text) {
    const memory = new Memory();
    if (text === undefined) return memory;
    const json = anObject(parseJson(text), "what this device keeps");
    anInteger(json.get("forsooth"), "the format's version", MEMORY_FORMAT, MEMORY_FORMAT);
    for (const [question, draws] of anObject(json.get("drawn"), "drawn")) {
      const read = [...anObject(draws, "a question")].map(([draw, it]) => [draw, parseDrawn(it)]);
      memory.#drawn.set(question, new Map(/** @type {[string, Drawn][]} */ (read)));
    }
    for (const [address, kept] of anObject(json.get("campaigns"), "campaigns"))
      memory.campaigns.set(address, parseKept(kept));
    for (const [name, seed] of anObject(json.get("coins") ?? new Map(), "coins"))
      memory.#coins.set(name, aText(seed, "a seed"));
    for (const [address, token] of anObject(json.get("tokens") ?? new Map(), "tokens"))
      memory.#tokens.set(address, aText(token, "a token"));
    return memory;
  }

  /** The whole memory as one JSON object. */
  toString() {
    const drawn = [...this.#drawn].map(([question, draws]) => [question, Object.fromEntries(draws)]);
    return JSON.stringify({
      forsooth: Number(MEMORY_FORMAT),
      drawn: Object.fromEntries(drawn),
      campaigns: Object.fromEntries(this.campaigns),
      coins: Object.fromEntries(this.#coins),
      tokens: Object.fromEntries(this.#tokens),
    });
  }

  /**
   * The token for an open link, or the serial for an anonymous one, made once.
   * @param {string} address
   * @param {() => string} make
   */
  token(address, make) {
    return once(this.#tokens, address, make);
  }

  /**
   * The seed of a draw that was not sent yet, made once.
   * @param {Cell} cell
   */
  seed({ coins }) {
    return fromBase64(once(this.#coins, coins, () => base64(newSeed())));
  }

  /**
   * What was sent for a cell before; undefined if nothing was.
   * @param {Cell} cell
   */
  value({ question, draw }) {
    return this.#drawn.get(question)?.get(draw)?.value;
  }

  /**
   * ε of all that was sent so far, and of all if these cells are sent too.
   * @param {readonly Cell[]} cells
   */
  spending(cells) {
    const fresh = cells.filter((cell) => !this.#has(cell));
    const before = [...this.#drawn.values()].flatMap((draws) => [...draws.values()]);
    return { before: total(before), after: total([...before, ...fresh]) };
  }

  /**
   * Refuse cells whose fresh draws would exceed a cap. The default caps are about repeats only: a
   * question that was never asked here, and a first campaign, may exceed them.
   * @param {readonly Cell[]} cells
   * @param {Caps} caps
   */
  check(cells, { cap, questionCap }) {
    const fresh = cells.filter((cell) => !this.#has(cell));
    for (const [question, cellsOfIt] of groups(fresh)) {
      const before = [...(this.#drawn.get(question)?.values() ?? [])];
      if (!isBeyond(before, cellsOfIt, questionCap ?? QUESTION_CAP, questionCap === undefined))
        continue;
      const [was, would] = [total(before), total([...before, ...cellsOfIt])].map(shownEpsilon);
      throw new ForsoothError(
        `refused: this device has answered “${cellsOfIt[0].text}” before, under another rule ` +
          `(ε = ${was}). A fresh report would make that ε = ${would}, and your limit for one question ` +
          `is ${shownEpsilon(questionCap ?? QUESTION_CAP)}`,
        "repeated",
      );
    }
    const all = [...this.#drawn.values()].flatMap((draws) => [...draws.values()]);
    if (!isBeyond(all, fresh, cap ?? TOTAL_CAP, cap === undefined)) return;
    const [was, would] = [total(all), total([...all, ...fresh])].map(shownEpsilon);
    throw new ForsoothError(
      `refused: your answers so far have ε = ${was} in all. With this campaign it would be ${would}, ` +
        `and your limit is ${shownEpsilon(cap ?? TOTAL_CAP)}`,
      "spent",
    );
  }

  /**
   * Enter what is about to be sent, and forget the coins that it was made with: who finds this device
   * later cannot take the noise away.
   * @param {readonly (Cell & {value: string | null})[]} cells
   * @param {Caps} caps
   */
  spend(cells, caps) {
    this.check(cells, caps);
    for (const { question, draw, coins, epsilon, value } of cells) {
      const draws = this.#drawn.get(question) ?? new Map();
      const before = draws.get(draw);
      if (before && before.value !== value) {
        throw new ForsoothError(
          "another report with one of these questions was sent from this device in the meantime: " +
            "look again at what will be sent",
          "changed",
        );
      }
      this.#drawn.set(question, draws.set(draw, { epsilon, value }));
      this.#coins.delete(coins);
    }
  }

  /**
   * Keep a campaign's report.
   * @param {string} address
   * @param {Kept} kept
   */
  keep(address, kept) {
    this.#tokens.delete(address);
    this.campaigns.set(address, kept);
    return String(this);
  }

  /** @param {Cell} cell */
  #has({ question, draw }) {
    return this.#drawn.get(question)?.has(draw) ?? false;
  }
}

/**
 * @param {Map<string, string>} all
 * @param {string} key
 * @param {() => string} make
 */
function once(all, key, make) {
  const found = all.get(key) ?? make();
  all.set(key, found);
  return found;
}

/** @param {readonly Cell[]} cells */
function groups(cells) {
  /** @type {Map<string, Cell[]>} */
  const found = new Map();
  for (const cell of cells) {
    const same = found.get(cell.question);
    if (same) same.push(cell);
    else found.set(cell.question, [cell]);
  }
  return found;
}

/**
 * Would fresh draws after the former ones exceed a cap? In exact arithmetic.
 * @param {readonly {epsilon: number}[]} before
 * @param {readonly {epsilon: number}[]} fresh
 * @param {number} cap
 * @param {boolean} repeatsOnly
 */
function isBeyond(before, fresh, cap, repeatsOnly) {
  if (fresh.length === 0 || cap === Infinity || (repeatsOnly && before.length === 0)) return false;
  return units([...before, ...fresh]) > units([{ epsilon: checkEpsilon(cap) }]);
}

/** @param {readonly {epsilon: number}[]} draws */
function units(draws) {
  return draws.reduce((sum, { epsilon }) => {
    const { n, d } = fractionOf(epsilon);
    return sum + (n * UNIT) / d;
  }, 0n);
}

/** @param {readonly {epsilon: number}[]} draws */
function total(draws) {
  return draws.length === 0 ? 0 : floatAbove({ n: units(draws), d: UNIT });
}

/** @param {number} epsilon */
function shownEpsilon(epsilon) {
  return String(Number(epsilon.toPrecision(3)));
}

/**
 * @param {unknown} json
 * @returns {Drawn}
 */
function parseDrawn(json) {
  const drawn = anObject(json, "a draw");
  const value = drawn.get("value");
  return {
    epsilon: checkEpsilon(aNumber(drawn.get("epsilon"), "ε")),
    value: value === null ? null : aText(value, "a value"),
  };
}

/**
 * @param {unknown} json
 * @returns {Kept}
 */
export function parseKept(json) {
  const kept = anObject(json, "the kept report");
  const body = kept.get("body");
  return {
    invitation: aText(kept.get("invitation"), "invitation"),
    design: aText(kept.get("design"), "design"),
    tasks: aText(kept.get("tasks"), "tasks"),
    body: body === null ? null : aText(body, "body"),
    accepted: aTruth(kept.get("accepted"), "accepted"),
    ...(kept.get("anonymous") != null && { anonymous: parseBlinding(kept.get("anonymous")) }),
  };
}

/**
 * @param {unknown} json
 * @returns {Blinding}
 */
function parseBlinding(json) {
  const own = anObject(json, "the blinding");
  const text = (/** @type {string} */ name) =>
    own.get(name) === null ? null : aText(own.get(name), name);
  return {
    invitation: aText(own.get("invitation"), "invitation"),
    blinded: text("blinded"),
    inverse: text("inverse"),
    due: own.get("due") === null ? null : Number(anInteger(own.get("due"), "due", 0n)),
  };
}
