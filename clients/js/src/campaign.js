/** A campaign as one worker sees it: open (and verify), prepare (and look), send. */
import { base64, base64url, sha256Hex } from "./bytes.js";
import { FixedCoins } from "./coins.js";
import { ForsoothError } from "./error.js";
import { aList, aNumber, anObject, aText, aTruth, parseJson, texts } from "./json.js";
import { checkProtects } from "./mechanism.js";
import { makeReport } from "./report.js";
import { internet, request } from "./service.js";
import { browserStore } from "./store.js";
import { readMechanism, verify } from "./verify.js";

/** @typedef {{id: string, text: string, image: string | null}} Task */
/** @typedef {{status: "accepted" | "already-accepted"}} Receipt */

/**
 * @typedef {object} Options
 * @property {string} [invitation] the token; by default the part of the address after #
 * @property {number} [limit] the largest ε per answer that the worker allows
 * @property {number} [totalLimit] the largest ε for everything that they say here
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
 * @property {{value: number | bigint, reads: number | null, label: string | null} | null} sent
 *   `reads`: the number as which the value is read (null: as not answered); `label`: the one of
 *   `scale.values` that stands for it, if there is one
 */

/**
 * @typedef {object} Prepared
 * @property {readonly PreparedRow[]} rows in task order
 * @property {string} body exactly what will be sent
 */

/**
 * What is kept on the device before anything is sent. No answers.
 * @typedef {object} Kept
 * @property {string} invitation
 * @property {string} design
 * @property {string} tasks fingerprint of the list of tasks
 * @property {string} body
 * @property {boolean} accepted
 */

export class Campaign {
  /** @type {string} */ #address;
  /** @type {import("./mechanism.js").Mechanism} */ #mechanism;
  /** @type {string} */ #invitation;
  /** @type {string} */ #design;
  /** @type {string} */ #tasksDigest;
  /** @type {import("./store.js").Store} */ #store;
  /** @type {import("./service.js").Network} */ #network;
  /** @type {Kept | null} */ #kept;
  /** @type {string | null} */ #body = null;
  /** @type {Promise<Receipt> | null} */ #sending = null;
  #coins = new FixedCoins();

  /**
   * Read a campaign and verify its mechanism; one that breaks its promise is refused.
   *
   * If this device already holds a report for the campaign, the campaign is the one that was
   * answered: the same tasks, the same mechanism. Only that report can be sent again.
   * @param {string} url of the worker's page or of the campaign in the API
   * @param {Options} [options]
   */
  static async open(
    url,
    { invitation, limit, totalLimit, store = browserStore(), network = internet } = {},
  ) {
    const link = parseLink(url);
    const token = invitation ?? link.token;
    const about = parseAbout((await request(network, link.address)).text);
    const tasksDigest = await sha256Hex(JSON.stringify(about.tasks.map((task) => task.id)));
    const kept = parseKept(await store.get(link.address));
    if (kept && kept.tasks !== tasksDigest) throw comesBackChanged();
    const chosen = chooseInvitation(token, kept, about.invitationRequired);
    const design = kept?.design ?? about.design;
    const mechanism = await fetchMechanism(network, link.address, design, kept !== null);
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
    const verification = verify(mechanism, {
      tasks: about.tasks.length,
      promised: about.epsilon,
      unit: about.unit,
      limit,
      totalLimit,
    });
    const asked = await mechanism.eligible(about.tasks.length, await sha256Hex(chosen));
    return new Campaign(about, verification, {
      address: link.address,
      mechanism,
      asked,
      invitation: chosen,
      design,
      tasksDigest,
      store,
      network,
      kept,
    });
  }

  /**
   * For `open`, which verifies.
   * @private
   * @param {ReturnType<typeof parseAbout>} about
   * @param {import("./verify.js").Verification} verification
   * @param {any} parts
   */
  constructor(about, verification, parts) {
    this.title = about.title;
    this.description = about.description;
    /** @type {readonly Task[]} */
    this.tasks = about.tasks;
    /** The tasks that this worker's report is about: all, or those sampled for them. */
    this.asked = /** @type {readonly Task[]} */ (
      parts.asked.map((/** @type {number} */ place) => about.tasks[place])
    );
    /** @type {{values: readonly string[], labels: readonly string[]}} */
    this.scale = { values: about.values, labels: about.labels };
    this.closed = about.closed;
    this.verification = verification;
    this.#address = parts.address;
    this.#mechanism = parts.mechanism;
    this.#invitation = parts.invitation;
    this.#design = parts.design;
    this.#tasksDigest = parts.tasksDigest;
    this.#store = parts.store;
    this.#network = parts.network;
    this.#kept = parts.kept;
  }

  /**
   * "open": nothing is kept; "kept": a report is kept here, and the service has not confirmed it;
   * "accepted": it has.
   * @returns {"open" | "kept" | "accepted"}
   */
  get state() {
    if (!this.#kept) return "open";
    return this.#kept.accepted ? "accepted" : "kept";
  }

  /**
   * Perturb the answers and show what would be sent. Nothing is stored and nothing is sent.
   * Called again with corrected answers, it tosses no new coins.
   * @param {import("./report.js").Answers} answers tasks that are left out were skipped
   * @returns {Promise<Prepared>}
   */
  async prepare(answers) {
    if (this.#kept) throw answeredAlready();
    if (this.closed) throw new ForsoothError("this campaign is closed", "closed");
    const ids = this.tasks.map((task) => task.id);
    const worker = await sha256Hex(this.#invitation);
    const report = await makeReport(this.#mechanism, ids, answers, this.#coins.replay(), worker);
    this.#body = JSON.stringify({
      invitation: this.#invitation,
      design: this.#design,
      report: base64(report.bytes),
      ...(report.answered && { tasks: report.answered }),
    });
    return {
      rows: this.asked.map((task) => this.#row(task, this.tasks.indexOf(task), report)),
      body: this.#body,
    };
  }

  /**
   * Keep the prepared report on this device, then send it; or send the kept one again.
   * @returns {Promise<Receipt>}
   */
  send() {
    this.#sending ??= this.#deliver().finally(() => (this.#sending = null)); // two clicks, one way
    return this.#sending;
  }

  /** @returns {Promise<Receipt>} */
  async #deliver() {
    const kept = this.#kept ?? (await this.#keep());
    const { text } = await request(this.#network, `${this.#address}/reports`, kept.body);
    const status = anObject(parseJson(text), "the service's answer").get("status");
    if (status !== "accepted" && status !== "already-accepted") {
      throw new ForsoothError("the service did not confirm the report", "unreachable");
    }
    this.#kept = { ...kept, accepted: true };
    // If this note cannot be written, the report is merely offered for sending once more.
    await this.#store.replace(this.#address, JSON.stringify(this.#kept)).catch(() => {});
    return { status };
  }

  /** @returns {Promise<Kept>} */
  async #keep() {
    if (this.#body === null) throw new ForsoothError("prepare a report before sending it", "input");
    const kept = {
      invitation: this.#invitation,
      design: this.#design,
      tasks: this.#tasksDigest,
      body: this.#body,
      accepted: false,
    };
    if (!(await this.#store.add(this.#address, JSON.stringify(kept)))) throw answeredAlready();
    this.#kept = kept;
    return kept;
  }

  /**
   * @param {Task} task
   * @param {number} place
   * @param {import("./report.js").Report} report
   * @returns {PreparedRow}
   */
  #row(task, place, { codes, places, values }) {
    const { scale, isCellwise } = this.#mechanism;
    const answer = scale.labels[codes[place]] ?? null;
    const cell = places.indexOf(place);
    if (!isCellwise || cell < 0) return { task, answer, sent: null };
    const value = values[cell];
    const reads = this.#mechanism.reading(value);
    return {
      task,
      answer,
      sent: { value, reads, label: reads === null ? null : scale.labelOf(reads) },
    };
  }
}

/**
 * The campaign's address in the API, and the token after # if there is one.
 * @param {string} url https://…/c/ID or https://…/v1/campaigns/ID
 */
function parseLink(url) {
  let parsed;
  try {
    parsed = new URL(url, globalThis.location?.href);
  } catch {
    throw new ForsoothError(`this is not the address of a campaign: ${url}`, "input");
  }
  const found = /^(.*)\/(?:c|v1\/campaigns)\/([^/]+)\/?$/.exec(parsed.pathname);
  if (!found) throw new ForsoothError(`this is not the address of a campaign: ${url}`, "input");
  const token = parsed.hash.slice(1) || undefined;
  return { address: `${parsed.origin}${found[1]}/v1/campaigns/${found[2]}`, token };
}

/**
 * What the service says of a campaign, read as strictly as a mechanism.
 * @param {string} text
 */
function parseAbout(text) {
  const json = anObject(parseJson(text), "a campaign");
  const scale = anObject(json.get("scale"), "scale");
  const tasks = aList(json.get("tasks"), "tasks").map((item) => {
    const task = anObject(item, "a task");
    const image = task.get("image") ?? null;
    return {
      id: aText(task.get("id"), "a task's id"),
      text: aText(task.get("text"), "a task's text"),
      image: image === null ? null : aText(image, "a task's image"),
    };
  });
  texts(
    tasks.map((task) => task.id),
    "tasks",
  );
  if (tasks.length === 0) throw new ForsoothError("this campaign has no tasks");
  const values = texts(scale.get("values"), "the scale's values");
  const labels = aList(scale.get("labels"), "labels").map((label) => aText(label, "a label"));
  if (labels.length !== values.length)
    throw new ForsoothError("every answer of the scale needs a label");
  return {
    title: aText(json.get("title"), "title"),
    description: aText(json.get("description") ?? "", "description"),
    tasks,
    values,
    labels,
    epsilon: aNumber(json.get("epsilon"), "ε"),
    unit: aText(json.get("unit") ?? "cell", "unit"),
    protects: checkProtects(json.get("protects")),
    design: aText(json.get("design"), "design"),
    invitationRequired: aTruth(json.get("invitation_required"), "invitation_required"),
    closed: aTruth(json.get("closed"), "closed"),
  };
}

/**
 * The mechanism of a design: the text whose SHA-256 is the design's name.
 * @param {import("./service.js").Network} network
 * @param {string} address
 * @param {string} design
 * @param {boolean} answered is it the design of a report that is kept?
 */
async function fetchMechanism(network, address, design, answered) {
  if (!/^[0-9a-f]{64}$/.test(design))
    throw new ForsoothError("refused: the design's name is no SHA-256");
  let text;
  try {
    ({ text } = await request(network, `${address}/designs/${design}`));
  } catch (error) {
    const gone = error instanceof ForsoothError && error.code !== "unreachable";
    throw answered && gone ? comesBackChanged() : error;
  }
  if ((await sha256Hex(text)) !== design) {
    throw new ForsoothError(
      "refused: the mechanism is not the one that the campaign names (its SHA-256 differs)",
    );
  }
  return readMechanism(text);
}

/**
 * @param {string | undefined} text
 * @returns {Kept | null}
 */
function parseKept(text) {
  if (text === undefined) return null;
  const json = anObject(parseJson(text), "the kept report");
  return {
    invitation: aText(json.get("invitation"), "invitation"),
    design: aText(json.get("design"), "design"),
    tasks: aText(json.get("tasks"), "tasks"),
    body: aText(json.get("body"), "body"),
    accepted: aTruth(json.get("accepted"), "accepted"),
  };
}

/**
 * The token under which the report is sent: the kept report's, the one given, or, by an open link,
 * one that the worker makes. One that cannot fit is noticed before a report is bound to it.
 * @param {string | undefined} given
 * @param {Kept | null} kept
 * @param {boolean} required
 */
function chooseInvitation(given, kept, required) {
  if (kept && given && given !== kept.invitation) throw answeredAlready();
  const token = kept?.invitation ?? given ?? (required ? "" : openToken());
  const whole = /^(open-)?[A-Za-z0-9_-]{43}$/.exec(token);
  if (!whole || Boolean(whole[1]) === required) {
    const what = required ? "this campaign needs an invitation" : "this is not the campaign's link";
    throw new ForsoothError(`${what}: open the whole link that you were sent`, "input");
  }
  return token;
}

function openToken() {
  return `open-${base64url(crypto.getRandomValues(new Uint8Array(32)))}`;
}

function comesBackChanged() {
  return new ForsoothError(
    "refused: this campaign was answered here with another mechanism or other tasks; " +
      "a second report would be a second spend",
  );
}

function answeredAlready() {
  return new ForsoothError(
    "this device already holds a report for this campaign; a second one would be a second spend. " +
      "Somebody else who wants to answer here needs a browser profile of their own",
    "answered",
  );
}
