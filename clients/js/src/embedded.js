/**
 * A campaign inside somebody else's page: its questions are asked, what will be sent is shown, the
 * report is sent, and the page that surrounds them learns nothing of the answers.
 */
import { Campaign } from "./campaign.js";
import { ForsoothError } from "./error.js";
import { inWords } from "./promise.js";

/**
 * What the surrounding page learns: the digest of the mechanism, and whether the report has arrived.
 * It is the same for every answer, and if all questions were skipped. `design` is null without a
 * report of this visit.
 * @typedef {{design: string | null, receipt: "accepted" | "none"}} Outcome
 */

const QUIET = ["change", "click", "input", "keydown", "keyup", "mousemove", "pointerdown"];

/**
 * Ask in this element; it is empty again when the outcome is there.
 * @param {HTMLElement} element
 * @param {string} link of the campaign, as a worker is sent it
 * @param {Pick<import("./campaign.js").Options, "limit" | "totalLimit" | "store" | "network">} [options]
 * @returns {Promise<Outcome>}
 */
export async function askIn(element, link, options = {}) {
  const frame = make("section", { className: "forsooth" });
  // Listeners of the page, such as recorders of keys and clicks, hear nothing of what happens here.
  for (const type of QUIET) frame.addEventListener(type, (event) => event.stopPropagation());
  element.replaceChildren(frame);
  try {
    const campaign = await Campaign.open(link, options);
    if (campaign.anonymous) {
      throw new ForsoothError(
        "this survey is anonymous, and its report goes out later than this page lasts: open its own link",
        "input",
      );
    }
    if (campaign.state === "accepted") return { design: null, receipt: "accepted" };
    if (campaign.state === "kept") return await deliver(frame, campaign, null);
    if (campaign.closed) throw new ForsoothError("this survey is closed", "closed");
    return await ask(frame, campaign);
  } catch (error) {
    await choose(frame, [explain(error)], ["Continue without these questions"]);
    return { design: null, receipt: "none" };
  } finally {
    frame.remove();
  }
}

/**
 * @param {HTMLElement} frame
 * @param {Campaign} campaign
 * @returns {Promise<Outcome>}
 */
async function ask(frame, campaign) {
  if (!(await agrees(frame, campaign))) return { design: null, receipt: "none" };
  const { title, sentences } = inWords(campaign.verification);
  const sheet = questions(campaign);
  const opening = [
    make("h2", { textContent: campaign.title }),
    ...[campaign.description, campaign.presentation.introduction]
      .filter(Boolean)
      .map((textContent) => make("p", { textContent })),
    make("p", { textContent: [`${title}.`, ...sentences].join(" ") }),
    sheet,
  ];
  for (;;) {
    const next = await choose(frame, opening, ["See what will be sent", "Take no part"]);
    if (next === 1) return { design: null, receipt: "none" };
    const given = [...new FormData(sheet)].filter(([, value]) => value !== "");
    const answers = Object.fromEntries(given.map(([id, value]) => [id, String(value)]));
    const prepared = await campaign.prepare(answers);
    const sure = await choose(frame, review(campaign, prepared), ["Send", "Change answers"]);
    if (sure === 1) continue;
    return deliver(frame, campaign, JSON.parse(prepared.body).design);
  }
}

/**
 * The introduction, and the consent that must be given before the questions are shown.
 * @param {HTMLElement} frame
 * @param {Campaign} campaign
 */
async function agrees(frame, { title, presentation: { introduction, consent } }) {
  if (!consent) return true;
  const texts = [introduction, consent].filter(Boolean);
  const content = [
    make("h2", { textContent: title }),
    ...texts.map((textContent) => make("p", { textContent, style: "white-space: pre-line" })),
  ];
  return (await choose(frame, content, ["I agree to take part", "Take no part"])) === 0;
}

/**
 * Send until it has arrived, or the person goes on without.
 * @param {HTMLElement} frame
 * @param {Campaign} campaign
 * @param {string | null} design
 * @returns {Promise<Outcome>}
 */
async function deliver(frame, campaign, design) {
  for (;;) {
    frame.replaceChildren(make("p", { textContent: "Sending …", role: "status" }));
    try {
      await campaign.send();
      return { design, receipt: "accepted" };
    } catch (error) {
      const next = await choose(frame, [explain(error)], ["Send again", "Continue"]);
      if (next === 1) return { design, receipt: "none" };
    }
  }
}

/** @param {Campaign} campaign */
function questions({ asked, scale }) {
  const choices = scale.values.map((value, place) => [value, scale.labels[place]]);
  const sheet = make("form", { onsubmit: (/** @type {Event} */ event) => event.preventDefault() });
  for (const { id, text } of asked) {
    const buttons = [...choices, ["", "No answer"]].map(([value, label]) => {
      const checked = value === "";
      const button = make("input", { type: "radio", name: id, value, defaultChecked: checked });
      return make("label", {}, button, ` ${label} `);
    });
    sheet.append(make("fieldset", {}, make("legend", { textContent: text }), ...buttons));
  }
  return sheet;
}

/**
 * @param {Campaign} campaign
 * @param {import("./campaign.js").Prepared} prepared
 */
function review({ scale }, { rows }) {
  const word = (/** @type {string} */ value) => scale.labels[scale.values.indexOf(value)];
  const reads = (/** @type {import("./campaign.js").PreparedRow["sent"]} */ sent) => {
    if (sent === null) return "in a sum";
    if (sent.reads === null) return "no answer";
    return sent.label === null ? String(sent.reads) : word(sent.label);
  };
  const line = (/** @type {string} */ tag, /** @type {string[]} */ ...cells) =>
    make("tr", {}, ...cells.map((textContent) => make(tag, { textContent })));
  const body = rows.map(({ task, answer, sent }) =>
    line("td", task.text, answer === null ? "No answer" : word(answer), reads(sent)),
  );
  const head = line("th", "Question", "You answered", "What is sent");
  return [
    make("p", { textContent: "Only the last column is sent. It is drawn at random." }),
    make("table", {}, head, ...body),
  ];
}

/**
 * Show something and wait for one of the buttons; its place.
 * @param {HTMLElement} frame
 * @param {readonly Node[]} content
 * @param {readonly string[]} names
 * @returns {Promise<number>}
 */
function choose(frame, content, names) {
  return new Promise((resolve) => {
    const buttons = names.map((textContent, place) =>
      make("button", { type: "button", textContent, onclick: () => resolve(place) }),
    );
    frame.replaceChildren(...content, make("p", {}, ...buttons));
  });
}

/** @param {unknown} error */
function explain(error) {
  if (!(error instanceof ForsoothError)) throw error;
  return make("p", { role: "alert", textContent: error.message });
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag | string} tag
 * @param {object} properties
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return /** @type {HTMLElementTagNameMap[Tag]} */ (element);
}
