/** The worker's page: answer, look at what will be sent, send. */
import { Campaign, ForsoothError, inWords } from "./forsooth-client.js";
import { describeAnonymity, waitForTime } from "./anonymous-worker.js";
import { askFirst } from "./consent.js";
import { byId, element, quantity, showOnly, shown, tell } from "./dom.js";
import { Draft } from "./draft.js";
import { leaveClosed, showCompletion } from "./finish.js";
import { campaignLink, isOneFile } from "./link.js";
import { showDigest } from "./manifest.js";
import { previewOf } from "./preview.js";
import { showPromise } from "./promise.js";
import { present, welcome } from "./opening.js";
import { answersNow, clearAnswers, removeQuestions, showQuestions } from "./questions.js";
import { showReview } from "./review.js";
import { isLastPage, pageInWords, shuffled, turn, turnTo } from "./sections.js";
import { WORDS } from "./words.js";

const REVIEW = "review"; // the state of the second entry in the browser's history
const steps = ["survey", "review", "kept", "waiting", "done"].map(byId);
const [survey, review, kept, waiting, done] = steps;
const news = byId("news");
// Sending again cannot help.
const FINAL = ["answered", "closed", "already-reported", "already-signed", "unknown-invitation"];
const buttons = ["send", "resend", "send-now", "back"].map(byId);
const others = new BroadcastChannel("forsooth"); // other tabs of this browser with the same survey

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
addEventListener("hashchange", anew); // another invitation
begin();

async function begin() {
  tell(byId("description"), "");
  let campaign, obstacle;
  try {
    const link = campaignLink();
    if (link === null) return;
    const preview = previewOf(link);
    isPreview = preview !== null;
    const { link: address, options } = preview ?? { link, options: { network } };
    // Weaker promises are not refused here: the person is asked, see consent.js.
    campaign = await Campaign.open(address, { ...options, protects: "answers", cap: Infinity });
    obstacle = isPreview || campaign.state !== "open" ? null : await campaign.obstacle();
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
  const draft = new Draft(isPreview ? null : campaign.worker);
  present(campaign);
  others.onmessage = ({ data }) => {
    if (data === campaign.worker && !isPreview) anew(); // the report was made in another tab
  };
  if (campaign.state === "open" && !obstacle) {
    // Only whether there are answers: what is passed on here stays in the page's memory.
    const before = await draft.read().then(({ size }) => size > 0, () => false);
    welcome(campaign, before, () => askFirst(campaign, () => ask(campaign, draft)));
    return;
  }
  draft.end().catch(() => {});
  if (campaign.state === "accepted") thank(campaign);
  else if (campaign.state === "kept") offerAgain(campaign, draft);
  else if (campaign.state === "waiting") wait(campaign, draft);
  else {
    complain(new ForsoothError("no report can be sent", obstacle));
    if (obstacle === "closed") leaveClosed(campaign);
  }
}

/** Begin anew; the answers are not lost, or no longer needed. */
function anew() {
  onbeforeunload = null;
  location.reload();
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

/**
 * @param {Campaign} campaign
 * @param {Draft} draft
 */
async function ask(campaign, draft) {
  const given = await draft.read().catch(() => new Map());
  const count = () => {
    const answers = answersNow();
    const [answered, all] = [answers.size, campaign.asked.length];
    byId("progress-text").textContent = pageInWords() + WORDS.answered(answered, all);
    byId("progress").value = answered / all;
    byId("forget").hidden = answered === 0;
    onbeforeunload = answered ? (event) => event.preventDefault() : null;
    return answers;
  };
  survey.addEventListener("change", () => note(draft.save(count()), draft.isKept ? "Kept on this device until sent." : ""));
  const move = (by) => {
    turn(by);
    count();
  };
  const order = await orderOf(campaign, draft);
  showQuestions(campaign, order, given);
  survey.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!isLastPage()) move(1);
    else if (await look(campaign, order)) history.pushState(REVIEW, "");
  });
  byId("previous").addEventListener("click", () => move(-1));
  byId("back").addEventListener("click", () => history.back());
  addEventListener("popstate", () => {
    go(campaign, order);
    if (!survey.hidden) count();
  });
  byId("send").addEventListener("click", () => send(campaign, draft));
  byId("forget").addEventListener("click", () => {
    clearAnswers();
    count();
    note(draft.forget(), "Your answers are deleted from this device.");
  });
  count();
  if (given.size > 0) note(Promise.resolve(), "Your answers were kept on this device.");
  else history.replaceState(null, ""); // there is nothing to review
  tell(byId("repeated"), again(campaign.repeated.length));
  showOnly(steps, survey);
  go(campaign, order);
}

/** The questions as this device shows them. @param {Campaign} campaign @param {Draft} draft */
async function orderOf({ asked, presentation }, draft) {
  if (!presentation.shuffled) return asked;
  const ids = asked.map((task) => task.id);
  const order = await draft.order(ids, () => shuffled(asked).map((task) => task.id));
  return order.map((id) => asked[ids.indexOf(id)]);
}

/** What became of the answers on this device; without a place for them, leaving loses them. */
async function note(kept, text) {
  const failed = "This browser cannot keep your answers: do not leave before you have sent them.";
  byId("draft").textContent = await kept.then(() => text, () => failed);
}

/** To the step that the browser's history says; a report that was made is final. */
function go(campaign, order) {
  if (campaign.state !== "open") return;
  hideProblem();
  if (history.state === REVIEW) return void look(campaign, order);
  turnTo(history.state?.page);
  if (!survey.hidden) return;
  showOnly(steps, survey);
  byId("title").focus();
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

/** Perturb here, and show both sides. @returns {Promise<boolean>} is it shown? */
async function look(campaign, order) {
  hideProblem();
  let prepared;
  try {
    prepared = await campaign.prepare(answersNow());
  } catch (error) {
    complain(error);
    return false;
  }
  const rows = new Map(prepared.rows.map((row) => [row.task, row]));
  showReview(order.map((task) => rows.get(task)), campaign.scale);
  byId("body").textContent = prepared.body;
  showOnly(steps, review);
  byId("review-title").focus();
  return true;
}

/**
 * @param {Campaign} campaign
 * @param {Draft} draft
 */
async function send(campaign, draft) {
  hideProblem();
  for (const button of buttons) button.disabled = true;
  news.textContent = "Sending …";
  let receipt;
  try {
    await draft.forget().catch(() => {}); // where nothing can be kept, nothing is there
    // A preview gets no token: nothing is signed for it.
    receipt = isPreview && campaign.anonymous ? { status: "accepted" } : await campaign.send();
  } catch (error) {
    if (FINAL.includes(error.code)) {
      forget();
      showOnly(steps, null);
    } else if (campaign.state === "kept") offerAgain(campaign, draft);
    else if (campaign.state === "waiting") wait(campaign, draft);
    else draft.save(answersNow()).catch(() => {});
    complain(error);
    if (error.code === "closed") leaveClosed(campaign);
    return;
  } finally {
    if (campaign.state !== "open") forget();
    if (campaign.state === "accepted") draft.end().catch(() => {});
    if (campaign.state !== "open") others.postMessage(campaign.worker);
    news.textContent = "";
    for (const button of buttons) button.disabled = false;
  }
  if (receipt.status === "waiting") return wait(campaign, draft);
  thank(campaign);
  byId("done-title").focus();
  if (campaign.panel?.completionUrl) location.assign(campaign.panel.completionUrl);
}

/** @param {Campaign} campaign */
function thank(campaign) {
  showCompletion(campaign);
  showOnly(steps, done);
}

/** An anonymous report, until its random time. @param {Campaign} campaign @param {Draft} draft */
function wait(campaign, draft) {
  waitForTime(campaign, () => send(campaign, draft));
  showOnly(steps, waiting);
  byId("waiting-title").focus();
}

/** The answers, wherever the page has them: a report that was made is final. */
function forget() {
  removeQuestions();
  for (const name of ["rows", "summary", "body"]) byId(name).replaceChildren();
  onbeforeunload = null;
}

/** @param {Campaign} campaign @param {Draft} draft */
function offerAgain(campaign, draft) {
  byId("resend").onclick = () => send(campaign, draft);
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
