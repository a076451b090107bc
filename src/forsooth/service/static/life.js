/** What can be done with a campaign in its state: preview, change, open, pause, close, delete. */
import { call } from "./api.js";
import { byId, quantity, tell } from "./dom.js";
import { ask } from "./invitations.js";

/** The buttons and links of each state. */
const ALLOWED = {
  draft: ["preview", "edit", "open", "copy", "delete"],
  open: ["preview", "pause", "close", "copy"],
  paused: ["preview", "resume", "close", "copy"],
  closed: ["copy", "delete"],
  deleted: ["restore"],
};
const TEXTS = {
  draft: "Nobody can answer yet, and you can change everything. Look at the preview before you open it.",
  open: "People can answer. What they are promised cannot be changed any more.",
  paused: "Nobody can answer at the moment. People who open the page read that the survey is paused.",
  closed: "No more reports are accepted.",
  deleted: "Nobody can answer, and there are no results.",
};
const DAY = 86_400_000; // milliseconds
const buttons = [...byId("life").querySelectorAll("[data-act]")];
let campaign;

/**
 * @param {(place: HTMLElement, act: () => Promise<void>) => Promise<void>} attempt
 * @param {(status: any) => void} show what to do with the state that follows
 */
export function prepareLife(attempt, show) {
  const move = async (name, body = {}) => {
    show(await call(`/${campaign.id}/${name}`, body));
  };
  const acts = {
    open: async () => (await ask("opening")) && move("open"),
    resume: () => move("open"),
    pause: () => move("pause"),
    close: async () => (await ask("closing")) && move("close"),
    delete: async () => (await askToDelete()) && move("delete", deletion()),
    restore: () => move("restore"),
  };
  for (const button of buttons) {
    const act = acts[button.dataset.act];
    if (act) button.addEventListener("click", () => attempt(byId("life-news"), act));
  }
  for (const name of ["phrase", "keep-days"]) byId(name).addEventListener("input", checkPhrase);
}

export function showLife(status) {
  campaign = status;
  byId("state").textContent = status.state;
  byId("state").className = `badge ${status.state}`;
  byId("life-text").textContent = `${TEXTS[status.state]} ${erasing(status)}`.trim();
  for (const button of buttons) {
    const name = button.dataset.act;
    button.hidden = !ALLOWED[status.state].includes(name);
    if (name === "preview") button.href = `${status.link}#preview${status.open ? "" : `=${anyToken()}`}`;
    if (name === "edit" || name === "copy") button.href = `#/${name}/${status.id}`;
  }
}

/** When what is erased. */
function erasing({ state, erased, erase_at, retention_days }) {
  if (erased !== null) return `Its reports have been erased (${quantity(erased, "report")}). The results stay.`;
  const at = erase_at && new Date(erase_at);
  const date = at && (at - Date.now() < DAY ? "within a day" : `on ${at.toLocaleDateString("en", { dateStyle: "long" })}`);
  if (state === "deleted") return `Everything is erased ${date}; until then you can restore it.`;
  if (date) return `Reports are erased ${date}. The results stay.`;
  return retention_days ? `Reports are erased ${quantity(retention_days, "day")} after the closing.` : "";
}

/** The page needs a token to draw questions by; a preview sends nothing, so that any will do. */
function anyToken() {
  return "preview".padEnd(43, "-");
}

/** Deleting is confirmed by typing what is deleted. */
function askToDelete() {
  tell(byId("deleting-text"), deletingText());
  byId("phrase-wanted").textContent = phrase();
  byId("phrase").value = "";
  checkPhrase();
  return ask("deleting");
}

function deletingText() {
  const also = "The results, invitations and questions are erased, too.";
  return `This erases ${quantity(campaign.reports, "report")}. ${also}`;
}

function phrase() {
  return `delete ${quantity(campaign.reports, "report")}`;
}

function checkPhrase() {
  const isTyped = byId("phrase").value.trim().toLowerCase() === phrase();
  byId("delete-now").disabled = !(isTyped && byId("keep-days").validity.valid);
}

function deletion() {
  return { reports: campaign.reports, days: Number(byId("keep-days").value) };
}
