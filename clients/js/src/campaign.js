/** A campaign as one worker sees it: open (and verify), prepare (and look), send. */
import { fetchDesign, parseAbout, parseLink } from "./about.js";
import { DELAY, announcedIn, blindingOf, secondsLeft, withToken } from "./anonymous.js";
import { newSerial } from "./blind.js";
import { base64, sha256Hex } from "./bytes.js";
import { drawWith } from "./coins.js";
import { ForsoothError } from "./error.js";
import { answeredAlready, givenInvitation, openToken, panelInvitation } from "./invitation.js";
import { anObject, parseJson } from "./json.js";
import { Memory } from "./memory.js";
import { panelToken } from "./panel.js";
import { fetchLogo } from "./presentation.js";
import { cellsOf } from "./question.js";
import { obstacleOf } from "./obstacle.js";
import { assembled, codesOf, inputOf, reportedOf } from "./report.js";
import { internet, request } from "./service.js";
import { browserStore } from "./store.js";
import { readMechanism, verify } from "./verify.js";

/** @typedef {import("./about.js").Task} Task */
/** @typedef {import("./memory.js").Kept} Kept */
/** @typedef {import("./question.js").Cell} Cell */
/** @typedef {{status: "accepted" | "already-accepted" | "waiting"}} Receipt waiting: not yet due */

/**
 * @typedef {object} Options
 * @property {string} [invitation] the token; by default the part of the address after #
 * @property {number} [limit] the largest ε per answer that the worker allows
 * @property {number} [totalLimit] the largest ε for everything that they say here
 * @property {import("./mechanism.js").Protects} [protects] what must be protected at least; by default
 *   answers and participation
 * @property {number} [questionCap] the largest ε for one question in all campaigns of this store. By
 *   default `QUESTION_CAP`, and a question that was never answered may exceed it once
 * @property {number} [cap] the largest ε for everything in all campaigns of this store. By default
 *   `TOTAL_CAP`, and the first campaign may exceed it
 * @property {number} [delay] seconds: an anonymous report is sent at a random time within them
 * @property {import("./store.js").Store} [store]
 * @property {import("./service.js").Network} [network]
 */

/**
 * What will be sent beside what was answered. `sent` is null where a report has no value for the
 * task: a skipped task where participation is public, and every task of a sketch (mf-safe). Where
 * only some tasks are sampled (unit = worker), there are rows for these only.
 * @typedef {object} PreparedRow
 * @property {Task} task
 * @property {string | null} answer one of `scale.values`; null for a skipped task
 * @property {Sent | null} sent
 * @property {boolean} repeated it is what was sent for this question before, whatever the answer is now
 */

/**
 * @typedef {object} Sent
 * @property {number | bigint} value
 * @property {number | null} reads the number as which the value is read; null: as not answered
 * @property {string | null} label the one of `scale.values` that is this number, if there is one
 * @property {(string | null)[] | null} likeliest the answers (null: skipped) that send this value most
 *   often; null where the value is a number with noise
 */

/**
 * @typedef {object} Prepared
 * @property {readonly PreparedRow[]} rows in task order
 * @property {string} body exactly what will be sent
 */

/** @typedef {{body: string, cells: (Cell & {value: string | null})[]}} Ready */

export class Campaign {
  /** @type {"open" | import("./obstacle.js").Obstacle} */ #life;
  /** @type {boolean} */ #required;
  /** @type {string} */ #address;
  /** @type {import("./mechanism.js").Mechanism} */ #mechanism;
  /** @type {string} */ #invitation; // what the report is sent with: anonymous, the serial
  /** @type {string | null} */ #invited;
  /** @type {import("./anonymous.js").Announced | null} */ #announced;
  /** @type {number} */ #delay;
  /** @type {string} */ #design;
  /** @type {string} */ #tasksDigest;
  /** @type {readonly Cell[]} */ #cells;
  /** @type {import("./memory.js").Caps} */ #caps;
  /** @type {import("./store.js").Store} */ #store;
  /** @type {import("./service.js").Network} */ #network;
  /** @type {Kept | null} */ #kept;
  /** @type {Ready | null} */ #ready = null;
  /** @type {Promise<Receipt> | null} */ #sending = null;

  /**
   * Read a campaign and verify its mechanism; one that breaks its promise is refused.
   *
   * If this device already holds a report for the campaign, the campaign is the one that was
   * answered: the same tasks, the same mechanism. Only that report can be sent again.
   * @param {string} url of the worker's page or of the campaign in the API
   * @param {Options} [options]
   */
  static async open(url, options = {}) {
    const { store = browserStore(), network = internet } = options;
    const link = parseLink(url);
    const { address } = link;
    const said = anObject(parseJson((await request(network, address)).text), "a campaign");
    const { view, announced } = await announcedIn(said, address, link.digest);
    const about = parseAbout(view);
    const tasksDigest = await sha256Hex(JSON.stringify(about.tasks.map((task) => task.id)));
    const kept = Memory.read(await store.read()).campaigns.get(address) ?? null;
    if (kept && kept.tasks !== tasksDigest) throw comesBackChanged();
    if (kept?.body === null) throw reportIsGone();
    const used = kept?.anonymous?.invitation ?? kept?.invitation ?? null;
    const invited = about.panel
      ? panelInvitation((await panelToken(url, about.panel)) ?? options.invitation, kept, about.panel)
      : givenInvitation(options.invitation ?? link.token, used, about.invitationRequired);
    const given = announced ? (kept?.invitation ?? null) : invited;
    const make = announced ? newSerial : openToken;
    const design = kept?.design ?? about.design;
    const text = await designText(network, address, design, kept !== null);
    const mechanism = readMechanism(text);
    const verification = check(mechanism, about, options);
    const made = await store.update((before) => {
      const memory = Memory.read(before);
      if (given === null) memory.token(address, make);
      return String(memory);
    });
    const memory = Memory.read(made);
    const invitation = given ?? memory.token(address, make);
    const worker = await sha256Hex(invitation);
    const places = await mechanism.eligible(about.tasks.length, worker);
    const rule = mechanism.cell === mechanism ? text : innerText(text);
    const cells = await cellsOf(about, mechanism, rule, address, places, announced !== null);
    const caps = { cap: options.cap, questionCap: options.questionCap };
    // Where participation is public, skipping a question can help: this is checked with the answers.
    if (!kept && mechanism.layout === "rows") memory.check(cells, caps);
    const parts = { mechanism, invitation, worker, design, tasksDigest, cells, caps, memory, kept };
    const delay = options.delay ?? DELAY;
    const anonymous = { announced, invited, delay };
    return new Campaign(about, verification, { address, store, network, ...parts, ...anonymous });
  }

  /**
   * For `open`, which verifies.
   * @private
   * @param {import("./about.js").About} about
   * @param {import("./verify.js").Verification} verification
   * @param {any} parts
   */
  constructor(about, verification, parts) {
    const cells = /** @type {readonly Cell[]} */ (parts.cells);
    const memory = /** @type {Memory} */ (parts.memory);
    const tasksOf = (/** @type {readonly Cell[]} */ some) =>
      /** @type {readonly Task[]} */ (some.map(({ place }) => about.tasks[place]));
    this.title = about.title;
    this.description = about.description;
    this.presentation = about.presentation;
    /** @type {readonly Task[]} */
    this.tasks = about.tasks;
    /** The tasks that this worker's report is about: all, or those sampled for them. */
    this.asked = tasksOf(cells);
    /** Those of them for which a value was sent before; it will be sent again. */
    this.repeated = parts.kept ? [] : tasksOf(cells.filter((cell) => memory.value(cell) != null));
    /** ε for all campaigns in this store so far, and with this one if everything is answered. */
    this.spending = memory.spending(parts.kept ? [] : cells);
    /** The answers as the mechanism names them, in words, and the numbers that they stand for. */
    this.scale = {
      values: about.values,
      labels: about.labels,
      numbers: /** @type {readonly number[]} */ (parts.mechanism.scale.values),
    };
    this.closed = about.closed;
    /** The service says that it erases reports so many days after the closing; null: it does not. */
    this.retentionDays = about.retentionDays;
    this.#life = about.life;
    this.#required = about.invitationRequired;
    /** @type {import("./panel.js").Panel | null} */
    this.panel = about.panel;
    /** @type {string} the name under which the report is exported: the hash of the invitation */
    this.worker = parts.worker;
    this.verification = verification;
    /**
     * Of an anonymous campaign, what is the same for everybody; null: it is not anonymous.
     * @type {{digest: string, batch: number} | null}
     */
    this.anonymous = parts.announced;
    this.#announced = parts.announced;
    this.#invited = parts.invited;
    this.#delay = parts.delay;
    this.#address = parts.address;
    this.#mechanism = parts.mechanism;
    this.#invitation = parts.invitation;
    this.#design = parts.design;
    this.#tasksDigest = parts.tasksDigest;
    this.#cells = cells;
    this.#caps = parts.caps;
    this.#store = parts.store;
    this.#network = parts.network;
    this.#kept = parts.kept;
  }

  /**
   * "open": nothing is kept; "kept": a report is kept here, and the service has not confirmed it;
   * "waiting": the same with a signed token, for its random time; "accepted": it is confirmed.
   * @returns {"open" | "kept" | "waiting" | "accepted"}
   */
  get state() {
    if (!this.#kept) return "open";
    if (this.#kept.accepted) return "accepted";
    return this.due ? "waiting" : "kept";
  }

  /** When an anonymous report with its token may be sent; null: it has none. */
  get due() {
    const due = this.#kept?.anonymous?.due;
    return due == null ? null : new Date(1000 * due);
  }

  /**
   * Why no report can be sent now, or null. Nothing is stored, here or there.
   * @returns {Promise<import("./obstacle.js").Obstacle | null>}
   */
  async obstacle() {
    if (this.#life !== "open") return this.#life;
    const invited = this.#announced ? String(this.#invited) : this.#invitation;
    return this.#required ? obstacleOf(this.#network, this.#address, invited) : null;
  }

  /** The campaign's logo as a data: URL; null if it has none. It is loaded from the service now. */
  async logo() {
    const { logo } = this.presentation;
    return logo && fetchLogo(this.#network, this.#address, logo);
  }

  /**
   * Perturb the answers and show what would be sent. Nothing is sent, and no answer is stored.
   *
   * The coins of every question are stored before they are used: after a reload, in another tab and
   * with corrected answers they fall as before. What was sent for a question before is sent again.
   * @param {import("./report.js").Answers} answers tasks that are left out were skipped
   * @returns {Promise<Prepared>}
   */
  async prepare(answers) {
    if (this.#kept) throw answeredAlready();
    if (this.closed) throw new ForsoothError("this campaign is closed", "closed");
    const mechanism = this.#mechanism;
    const ids = this.tasks.map((task) => task.id);
    const codes = codesOf(mechanism, ids, answers);
    const eligible = this.#cells.map(({ place }) => place);
    const reported = new Set(reportedOf(mechanism, codes, eligible));
    const cells = this.#cells.filter(({ place }) => reported.has(place));
    const text = await this.#store.update((before) => {
      const memory = Memory.read(before);
      memory.check(cells, this.#caps);
      for (const cell of this.#cells) if (memory.value(cell) === undefined) memory.seed(cell);
      return String(memory);
    });
    const memory = Memory.read(text);
    const values = await this.#draw(memory, cells, codes);
    const report = assembled(mechanism, codes, [...reported], values);
    const body = JSON.stringify({
      invitation: this.#invitation,
      design: this.#design,
      report: base64(report.bytes),
      ...(report.answered && { tasks: report.answered }),
    });
    const named = cells.map((cell, index) => ({
      ...cell,
      value: mechanism.isCellwise ? String(values[index]) : null,
    }));
    this.#ready = { body, cells: named };
    return { rows: this.#cells.map((cell) => this.#row(cell, report, memory)), body };
  }

  /**
   * The values to be sent: those sent before, and draws with the stored coins.
   * @param {Memory} memory
   * @param {readonly Cell[]} cells
   * @param {readonly number[]} codes
   * @returns {Promise<(number | bigint)[]>}
   */
  async #draw(memory, cells, codes) {
    const mechanism = this.#mechanism;
    const input = (/** @type {Cell} */ { place }) => inputOf(mechanism, codes[place]);
    const draw = (/** @type {Cell} */ first, /** @type {readonly Cell[]} */ of) =>
      drawWith(memory.seed(first), (coins) => mechanism.randomise(of.map(input), coins, this.worker));
    if (!mechanism.isCellwise) return draw(cells[0], cells);
    const values = cells.map(async (cell) => {
      const before = memory.value(cell);
      if (before == null) return (await draw(cell, [cell]))[0];
      return mechanism.bits === 64 ? BigInt(before) : Number(before);
    });
    return Promise.all(values);
  }

  /**
   * Keep the prepared report on this device, then send it; or send the kept one again. An anonymous one
   * gets its token first and is then "waiting": call again at or after `due`.
   * @returns {Promise<Receipt>}
   */
  send() {
    this.#sending ??= this.#deliver().finally(() => (this.#sending = null)); // two clicks, one way
    return this.#sending;
  }

  /** @returns {Promise<Receipt>} */
  async #deliver() {
    const kept = await this.#withToken(this.#kept ?? (await this.#keep()));
    if (kept.body === null) throw reportIsGone();
    if (secondsLeft(kept) > 0) return { status: "waiting" };
    const { text } = await request(this.#network, `${this.#address}/reports`, kept.body);
    const status = anObject(parseJson(text), "the service's answer").get("status");
    if (status !== "accepted" && status !== "already-accepted") {
      throw new ForsoothError("the service did not confirm the report", "unreachable");
    }
    this.#kept = { ...kept, accepted: true };
    // If this note cannot be written, the report is merely offered for sending once more.
    await this.#store
      .update((before) => Memory.read(before).keep(this.#address, { ...kept, accepted: true }))
      .catch(() => {});
    return { status };
  }

  /** @param {Kept} kept */
  async #withToken(kept) {
    if (!this.#announced) return kept;
    const made = await withToken(this.#network, this.#address, this.#announced, kept, this.#delay);
    if (made === kept) return kept;
    await this.#store.update((before) => Memory.read(before).keep(this.#address, made));
    return (this.#kept = made);
  }

  /** @returns {Promise<Kept>} */
  async #keep() {
    const ready = this.#ready;
    if (ready === null) throw new ForsoothError("prepare a report before sending it", "input");
    const kept = {
      invitation: this.#invitation,
      design: this.#design,
      tasks: this.#tasksDigest,
      body: ready.body,
      accepted: false,
      ...(this.#announced && {
        anonymous: await blindingOf(this.#announced, this.#invitation, String(this.#invited)),
      }),
    };
    await this.#store.update((before) => {
      const memory = Memory.read(before);
      if (memory.campaigns.has(this.#address)) throw answeredAlready();
      memory.spend(ready.cells, this.#caps);
      return memory.keep(this.#address, kept);
    });
    [this.#kept, this.#ready] = [kept, null];
    return kept;
  }

  /**
   * @param {Cell} cell
   * @param {import("./report.js").Report} report
   * @param {Memory} memory
   * @returns {PreparedRow}
   */
  #row({ place, ...cell }, { codes, places, values }, memory) {
    const { scale, isCellwise } = this.#mechanism;
    const task = this.tasks[place];
    const answer = scale.labels[codes[place]] ?? null;
    const index = places.indexOf(place);
    if (!isCellwise || index < 0) return { task, answer, sent: null, repeated: false };
    const value = values[index];
    const reads = this.#mechanism.reading(value);
    const label = reads === null ? null : scale.labelOf(reads);
    const likeliest = this.#mechanism.likeliest(value);
    const repeated = memory.value({ place, ...cell }) != null;
    return { task, answer, sent: { value, reads, label, likeliest }, repeated };
  }
}

/**
 * Refuse a mechanism that gives less than the campaign promises or the worker demands.
 * @param {import("./mechanism.js").Mechanism} mechanism
 * @param {import("./about.js").About} about
 * @param {Options} options
 */
function check(mechanism, about, { limit, totalLimit, protects = "answers+participation" }) {
  if (JSON.stringify(mechanism.scale.labels) !== JSON.stringify(about.values)) {
    throw new ForsoothError(
      "refused: the mechanism is made for another scale than the campaign shows",
    );
  }
  if (mechanism.protects !== about.protects) {
    throw new ForsoothError(
      `refused: the campaign promises to protect ${about.protects}, ` +
        `its mechanism protects ${mechanism.protects}`,
    );
  }
  const tasks = about.tasks.length;
  const claims = { tasks, promised: about.epsilon, unit: about.unit, limit, totalLimit, protects };
  return verify(mechanism, claims);
}

/**
 * @param {import("./service.js").Network} network
 * @param {string} address
 * @param {string} design
 * @param {boolean} answered is it the design of a report that is kept?
 */
async function designText(network, address, design, answered) {
  try {
    return await fetchDesign(network, address, design);
  } catch (error) {
    const known = error instanceof ForsoothError;
    const gone = known && !["refused", "unreachable"].includes(error.code);
    throw answered && gone ? comesBackChanged() : error;
  }
}

/**
 * The text of the mechanism of one cell, where only some tasks are sampled.
 * @param {string} text
 */
function innerText(text) {
  return /** @type {string} */ (/** @type {any} */ (parseJson(text)).get("parameters").get("inner"));
}

function reportIsGone() {
  return new ForsoothError(
    "refused: this device has answered this campaign and no longer has the report; a second one " +
      "would be a second spend",
    "answered",
  );
}

function comesBackChanged() {
  return new ForsoothError(
    "refused: this campaign was answered here with another mechanism or other tasks; " +
      "a second report would be a second spend",
  );
}
