/** The worker's page: answer, look at what will be sent, send. Answers live in the form alone. */
import { Campaign, ForsoothError, inWords } from "./forsooth-client.js";
import { describeAnonymity, waitForTime } from "./anonymous-worker.js";
import { askFirst } from "./consent.js";
import { byId, cell, element, quantity, showOnly, shown, tell } from "./dom.js";
import { campaignLink, isOneFile } from "./link.js";
import { showDigest } from "./manifest.js";
import { previewOf } from "./preview.js";
import { showPromise } from "./promise.js";

const MANY = 12; // a longer scale is a list to choose from instead of buttons
const steps = ["survey", "review", "kept", "waiting", "done"].map(byId);
const [survey, review, kept, waiting, done] = steps;
const news = byId("news");
// Sending again cannot help.
const FINAL = ["answered", "closed", "already-reported", "already-signed", "unknown-invitation"];
const buttons = ["send", "resend", "send-now", "back"].map(byId);

/** What to say when it ends, by the error's code; the error's own words follow. */
const TITLES = {
  draft: "This survey has not begun",
  paused: "This survey is paused",
  closed: "This survey is closed",
  "already-reported": "This invitation has been used",
  "already-signed": "This invitation has been used",
  "unknown-invitation": "This invitation is not known",
  "unknown-campaign": "There is no such survey",
  unreachable: "The survey cannot be reached",
  answered: "This device has answered already",
  storage: "This browser cannot keep your report",
  repeated: "You have answered one of these questions before",
  changed: "Please look once more",
  input: "Something is missing",
  refused: "Your device refused this survey",
};
const ADVICE = {
  draft: "It takes no reports yet. Come back later.",
  paused: "It takes no reports at the moment. Come back later.",
  closed: "It takes no more reports.",
  "already-reported":
    "A report has come in under it, and not from this browser. Each invitation counts once: if that " +
    "was not you, ask for a new one.",
  "already-signed":
    "Another device has used it, or this browser before its data was cleared. Each invitation counts " +
    "once: if that was not you, ask for a new one.",
  "unknown-invitation": "Open the whole link that you were sent, or ask for a new one.",
  "unknown-campaign": "Open the whole link that you were sent.",
  refused: "Nothing was sent.",
  repeated:
    "Asked the same thing again and again, your answer would show through the noise. Nothing was " +
    "sent. You can ask those who run the survey to leave this question out, or to use the rule of the " +
    "earlier survey: then what you sent before is sent again, and gives nothing more away.",
};

/** The network as the client wants it; while it waits, it says so, and ends when there is one. */
const network = {
  fetch: (url, options) => fetch(url, options),
  wait: (seconds) =>
    new Promise((resolve) => {
      news.textContent = `No answer from the survey. Trying again in ${shown(seconds, 0)} s …`;
      setTimeout(resolve, 1000 * seconds);
      addEventListener("online", resolve, { once: true });
    }),
};

let isPreview = false;
addEventListener("hashchange", () => location.reload()); // another invitation: begin anew
begin();

async function begin() {
  tell(byId("description"), "");
  let campaign, obstacle;
  try {
    const link = campaignLink();
    if (link === null) return;
    const preview = previewOf(link);
    isPreview = Boolean(preview);
    const { link: address, options } = preview ?? { link, options: { network } };
    // Weaker promises are not refused here: the person is asked, see consent.js.
    campaign = await Campaign.open(address, { ...options, protects: "answers", cap: Infinity });
    obstacle = preview || campaign.state !== "open" ? null : await campaign.obstacle();
  } catch (error) {
    byId("title").textContent = "A private survey";
    complain(error, () => location.reload());
    return;
  }
  news.textContent = "";
  document.title = campaign.title;
  byId("title").textContent = campaign.title;
  tell(byId("description"), campaign.description);
  describe(campaign.verification);
  describeAnonymity(campaign);
  byId("spent").textContent = shown(campaign.spending.before);
  tell(byId("retention"), retention(campaign.retentionDays));
  if (campaign.state === "accepted") showOnly(steps, done);
  else if (campaign.state === "kept") offerAgain(campaign);
  else if (campaign.state === "waiting") wait(campaign);
  else if (obstacle) complain(new ForsoothError("no report can be sent", obstacle));
  else askFirst(campaign, () => ask(campaign));
}

/** What the service says about erasing, which no device can check. */
function retention(days) {
  if (days === null) return "";
  return `The service says that it erases reports ${quantity(days, "day")} after the survey closes. Your device cannot check this.`;
}

/** The promise in words, and what this device has found out itself. */
function describe(verification) {
  const { mechanism, unit, promised, value, participation } = verification;
  showPromise(byId("promise"), inWords(verification));
  const public_ = participation === Infinity;
  const findings = [
    ["Rule", mechanism],
    [`Promised, for ${unit === "cell" ? "each answer" : "all of them"}`, `ε = ${shown(promised, 6)}`],
    ["Found, for changing an answer", `ε = ${shown(value, 6)}`],
    ["Found, for answering or skipping", public_ ? "not hidden" : `ε = ${shown(participation, 6)}`],
  ];
  byId("findings").replaceChildren(
    ...findings.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]),
  );
  byId("promise").hidden = false;
  if (!isOneFile) showDigest();
}

/** @param {Campaign} campaign */
function ask(campaign) {
  byId("tasks").replaceChildren(
    ...campaign.asked.map((task, place) => question(campaign, task, place)),
  );
  const count = () => {
    const [answered, all] = [answersOf(campaign).size, campaign.asked.length];
    byId("progress-text").textContent = `${shown(answered)} of ${shown(all)} answered`;
    byId("progress").value = answered / all;
  };
  survey.addEventListener("change", count);
  survey.addEventListener("submit", (event) => {
    event.preventDefault();
    look(campaign);
  });
  byId("back").addEventListener("click", () => {
    hideProblem();
    showOnly(steps, survey);
    byId("title").focus();
  });
  byId("send").addEventListener("click", () => send(campaign));
  count();
  tell(byId("repeated"), again(campaign.repeated.length));
  showOnly(steps, survey);
}

/** What to say of questions that were answered in another survey. @param {number} count */
function again(count) {
  if (count === 0) return "";
  return (
    `This browser has answered ${count === 1 ? "one" : shown(count)} of these questions in another ` +
    "survey. What was sent then is sent again, whatever you answer now: the same noisy answer twice " +
    "gives nothing more away."
  );
}

/**
 * A question as a group of buttons, or as a list where the scale is long.
 * @param {Campaign} campaign
 * @param {{id: string, text: string, image: string | null}} task
 * @param {number} place
 */
function question({ scale, asked }, task, place) {
  const clear = element("button", { type: "button", className: "quiet", hidden: true }, "Clear");
  const choices = scale.values.length > MANY ? list(scale, place) : row(scale, place);
  const box = element(
    "fieldset",
    { className: "card task" },
    element(
      "legend",
      {},
      element("span", { className: "soft" }, `${place + 1} of ${asked.length}`),
      element("span", { className: "text" }, task.text),
    ),
    // At once: a picture that is loaded when it comes into view tells its server how far one is.
    ...(task.image
      ? [element("img", { src: task.image, alt: "Picture to the question", loading: "eager" })]
      : []),
    choices,
    clear,
  );
  clear.setAttribute("aria-label", `Clear question ${place + 1}`);
  box.addEventListener("change", () => (clear.hidden = chosen(box) === null));
  clear.addEventListener("click", () => {
    const input = box.querySelector(":checked, select");
    if (input instanceof HTMLSelectElement) input.value = "";
    else input.checked = false;
    box.dispatchEvent(new Event("change", { bubbles: true }));
    box.querySelector("input, select").focus();
  });
  return box;
}

/** @param {Campaign["scale"]} scale @param {number} place */
function row({ values, labels }, place) {
  const short = labels.every((label) => label.length <= 3);
  return element(
    "div",
    { className: short ? "choices short" : "choices" },
    ...values.map((value, position) =>
      element(
        "label",
        {},
        element("input", { type: "radio", name: `task-${place}`, value }),
        element("span", {}, labels[position]),
      ),
    ),
  );
}

/** @param {Campaign["scale"]} scale @param {number} place */
function list({ values, labels }, place) {
  return element(
    "select",
    { name: `task-${place}`, "aria-label": "Your answer" },
    element("option", { value: "" }, "skipped"),
    ...values.map((value, position) => element("option", { value }, labels[position])),
  );
}

/** The value chosen in a question's box; null: skipped. */
function chosen(box) {
  return box.querySelector("input:checked, select")?.value || null;
}

/** @param {Campaign} campaign */
function answersOf({ asked }) {
  const boxes = byId("tasks").children;
  const pairs = asked.map((task, place) => [task.id, chosen(boxes[place])]);
  return new Map(pairs.filter(([, answer]) => answer !== null));
}

/** Perturb here, and show both sides. @param {Campaign} campaign */
async function look(campaign) {
  hideProblem();
  let prepared;
  try {
    prepared = await campaign.prepare(answersOf(campaign));
  } catch (error) {
    complain(error);
    return;
  }
  const word = wording(campaign.scale);
  byId("rows").replaceChildren(
    ...prepared.rows.map(({ task, answer, sent, repeated }) =>
      element(
        "tr",
        { role: "row" },
        element("th", { role: "rowheader", scope: "row" }, task.text),
        cell("You answered", answer === null ? "skipped" : word(answer)),
        cell("Will be sent", asSent(sent, word) + (repeated ? " (as before)" : "")),
      ),
    ),
  );
  byId("summary").textContent = summary(prepared.rows);
  byId("body").textContent = prepared.body;
  showOnly(steps, review);
  byId("review-title").focus();
}

/** An answer of the scale in the campaign's words. */
function wording({ values, labels }) {
  return (value) => labels[values.indexOf(value)];
}

/** What is sent for a question, as it will be read. */
function asSent(sent, word) {
  if (sent === null) return "nothing of its own";
  if (sent.reads === null) return "skipped";
  return sent.label === null ? shown(sent.reads) : word(sent.label);
}

function summary(rows) {
  const sent = rows.filter((row) => row.sent !== null);
  if (sent.length === 0) {
    return "This survey mixes everything into a few noisy numbers: no question has one of its own.";
  }
  const same = sent.filter((row) => row.sent.label === row.answer).length;
  return (
    `${shown(same)} of ${shown(sent.length)} rows will be sent just as you answered; the report ` +
    "does not say which. How sure somebody can become all the same is said at the top of this page."
  );
}

/** @param {Campaign} campaign */
async function send(campaign) {
  hideProblem();
  for (const button of buttons) button.disabled = true;
  news.textContent = "Sending …";
  let receipt;
  try {
    // A preview gets no token: nothing is signed for it.
    receipt = isPreview && campaign.anonymous ? { status: "accepted" } : await campaign.send();
  } catch (error) {
    if (FINAL.includes(error.code)) {
      forget();
      showOnly(steps, null);
    } else if (campaign.state === "kept") offerAgain(campaign);
    else if (campaign.state === "waiting") wait(campaign);
    complain(error);
    return;
  } finally {
    if (campaign.state !== "open") forget();
    news.textContent = "";
    for (const button of buttons) button.disabled = false;
  }
  if (receipt.status === "waiting") return wait(campaign);
  showOnly(steps, done);
  byId("done-title").focus();
}

/** An anonymous report, until its random time. @param {Campaign} campaign */
function wait(campaign) {
  waitForTime(campaign, () => send(campaign));
  showOnly(steps, waiting);
  byId("waiting-title").focus();
}

/** The answers, wherever the page has them: a report that was made is final. */
function forget() {
  for (const name of ["tasks", "rows", "summary", "body"]) byId(name).replaceChildren();
}

/** @param {Campaign} campaign */
function offerAgain(campaign) {
  byId("resend").onclick = () => send(campaign);
  showOnly(steps, kept);
}

/**
 * Say what went wrong, for people.
 * @param {unknown} error
 * @param {() => void} [again] what to do where trying again may help
 */
function complain(error, again) {
  const [code, message] =
    error instanceof ForsoothError ? [error.code, error.message] : ["", String(error)];
  const sentence = `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`;
  const words = ["refused", "repeated", "unreachable"].includes(code)
    ? `${sentence} ${ADVICE[code] ?? ""}`
    : (ADVICE[code] ?? sentence);
  news.textContent = "";
  byId("problem-title").textContent = TITLES[code] ?? "Something went wrong";
  byId("problem-text").textContent = words;
  byId("again").hidden = !(again && code === "unreachable");
  byId("again").onclick = again ?? null;
  byId("problem").hidden = false;
  byId("problem").scrollIntoView({ block: "nearest" });
}

function hideProblem() {
  byId("problem").hidden = true;
}
