/** Invitations: made, named in this browser only, kept from getting lost, reminded of, revoked. */
import { call, save } from "./api.js";
import { byId, quantity, shown } from "./dom.js";
import { csvFile, hashOf, readLinks, readPeople } from "./people.js";
import { linkCode, picture, saveSheet } from "./sheet.js";
import { readText } from "./table.js";

const MOST = 10_000; // invitations of one request
const MOST_LINKS = 1000; // shown on the page; the file has all
const news = byId("share-news");

/** The campaign, as the service says; and the links that are shown now and never again. */
let campaign = { id: "", title: "", unused: 0 };
let fresh = [];
let isSaved = true;
/** @type {(act: () => Promise<void>) => Promise<void>} */
let attempt;
/** @type {() => void} */
let refresh;
/** The rows of a list whose invitations are unused. */
let left = { header: [], rows: [] };

/**
 * @param {(place: HTMLElement, act: () => Promise<void>) => Promise<void>} attempting
 * @param {() => void} looking what to do when something has changed
 */
export function prepareInvitations(attempting, looking) {
  attempt = (act) => attempting(news, act);
  refresh = looking;
  const on = (id, act) => byId(id).addEventListener("click", () => attempt(act));
  byId("invite").addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(() => invite(people()));
  });
  byId("people").addEventListener("input", () => attempt(async () => describePeople()));
  on("fresh-save", async () => saved(csv(fresh), "invitations.csv"));
  on("fresh-copy", copyLinks);
  on("fresh-sheet", async () => {
    await saveSheet(campaign.id, campaign.title, fresh.map(cardOf));
    isSaved = true;
  });
  on("copy", async () => copy(byId("link").value, () => byId("link").select()));
  on("link-code", showCode);
  on("find-unused", findUnused);
  on("save-unused", async () => save(csvFile([left.header, ...left.rows.map(({ cells }) => cells)]), "reminders.csv"));
  on("revoke-unused", () => confirmed("revoking", revokeList));
  on("replace", () => confirmed("replacing", replace));
  addEventListener("beforeunload", (event) => {
    if (!isSaved) event.preventDefault();
  });
}

/** Another campaign: what was shown of the last one goes. @param {string} id */
export function beginInvitations(id) {
  campaign = { id, title: "", unused: 0 };
  fresh = [];
  isSaved = true;
  left = { header: [], rows: [] };
  byId("invite").reset();
  for (const name of ["links-text", "people"]) byId(name).value = "";
  for (const name of ["fresh", "unused-found", "code"]) byId(name).hidden = true;
  for (const name of ["share-news", "people-result"]) byId(name).textContent = "";
  describePeople();
}

export function showInvitations(status) {
  campaign = status;
  const { open, state, unused, link } = status;
  byId("share").hidden = !(state === "open" || state === "paused");
  byId("open-link").hidden = !open;
  byId("invited").hidden = open;
  byId("link").value = link;
  byId("lost").hidden = unused === 0;
  byId("replace").textContent = `Replace ${quantity(unused, "unused invitation")} …`;
}

/** Are there links that would be lost by leaving? */
export function isUnsaved() {
  return !isSaved;
}

/** Ask whether they may be lost. @returns {Promise<boolean>} */
export async function mayLeave() {
  if (isSaved) return true;
  const answer = await ask("leaving");
  if (answer === "save") saved(csv(fresh), "invitations.csv");
  if (answer === "leave") isSaved = true;
  return isSaved;
}

/** @param {number} count invitations without names */
export function inviteMany(count) {
  return attempt(() => invite({ header: [], rows: Array.from({ length: count }, () => []) }));
}

function people() {
  const list = readPeople(byId("people").value);
  if (list.rows.length) return list;
  return { header: [], rows: Array.from({ length: Number(byId("invite-count").value) }, () => []) };
}

function describePeople() {
  const { header, rows } = readPeople(byId("people").value);
  byId("invite-count").disabled = rows.length > 0;
  if (rows.length) byId("invite-count").value = rows.length;
  byId("people-result").textContent = rows.length
    ? `${shown(rows.length)} ${rows.length === 1 ? "person" : "people"}, with the columns: ${header.join(", ")}`
    : "";
}

/** Make links; the names are joined with them here. */
async function invite({ header, rows }) {
  if (rows.length > MOST) throw new Error(`At most ${shown(MOST)} invitations can be made at once.`);
  const { invitations } = await call(`/${campaign.id}/invitations`, { count: rows.length });
  fresh.push(...invitations.map(({ token, link }, place) => ({ header, cells: rows[place], link, token })));
  isSaved = false;
  byId("people").value = "";
  describePeople();
  showFresh();
  refresh();
}

function showFresh() {
  const are = fresh.length === 1 ? "is" : "are";
  byId("fresh-title").textContent = `${quantity(fresh.length, "invitation")} ${are} ready`;
  const lines = fresh.slice(0, MOST_LINKS).map(({ cells, link }) => [...cells, link].join("\t"));
  byId("fresh-links").textContent = lines.join("\n");
  byId("fresh").hidden = false;
  byId("fresh-title").focus();
}

function csv(rows) {
  const header = rows.reduce((longest, each) => (each.header.length > longest.length ? each.header : longest), []);
  const filled = (cells) => header.map((_, place) => cells[place] ?? "");
  return csvFile([[...header, "link"], ...rows.map(({ cells, link }) => [...filled(cells), link])]);
}

function saved(blob, name) {
  save(blob, name);
  isSaved = true;
}

function cardOf({ cells, link, token }) {
  return { name: cells.join(" "), link, token };
}

async function copyLinks() {
  const text = fresh.map(({ cells, link }) => [...cells, link].join("\t")).join("\n");
  const isCopied = await copy(text, () => getSelection().selectAllChildren(byId("fresh-links")));
  isSaved ||= isCopied;
}

async function copy(text, select) {
  const copying = navigator.clipboard?.writeText(text); // not without https
  const isCopied = Boolean(await copying?.then(() => true).catch(() => false));
  if (!isCopied) select();
  news.textContent = isCopied ? "Copied." : "The text is selected: copy it now.";
  return isCopied;
}

async function showCode() {
  const code = await linkCode(campaign.id);
  byId("code-picture").src = picture(code);
  byId("code-save").onclick = () => save(new Blob([code], { type: "image/svg+xml" }), "link.svg");
  byId("code").hidden = false;
}

/** Which links of a list are unused. The service is asked by their hashes; the list stays here. */
async function findUnused() {
  byId("unused-found").hidden = true;
  const file = byId("links-file").files[0];
  const list = readLinks(file ? await readText(file) : byId("links-text").value);
  if (list.rows.length === 0) throw new Error("There is no link in this list.");
  if (list.rows.length > MOST) throw new Error(`A list has at most ${shown(MOST)} links.`);
  const hashes = await Promise.all(list.rows.map(({ token }) => hashOf(token)));
  const { invitations } = await call(`/${campaign.id}/invitations/check`, { hashes });
  const rows = list.rows.map((row, place) => ({ ...row, hash: hashes[place], standing: invitations[place] }));
  const count = (standing) => rows.filter((row) => row.standing === standing).length;
  left = { header: list.header, rows: rows.filter((row) => row.standing === "unused") };
  const [unused, used, unknown] = ["unused", "used", "unknown"].map(count);
  byId("unused-text").textContent =
    `Of ${quantity(rows.length, "link")}: ${shown(unused)} unused, ${shown(used)} used` +
    (unknown ? `, ${shown(unknown)} not known (revoked, or of another campaign)` : "") +
    (list.others ? `. Without a link: ${quantity(list.others, "row")}` : "") +
    ".";
  byId("unused-actions").hidden = unused === 0;
  byId("unused-found").hidden = false;
}

async function revokeList() {
  const { revoked } = await call(`/${campaign.id}/invitations/revoke`, { hashes: left.rows.map(({ hash }) => hash) });
  byId("unused-found").hidden = true;
  news.textContent = `Revoked: ${quantity(revoked, "invitation")}.`;
  refresh();
}

/** For links that were lost: as many new ones, and the old ones are worth nothing. */
async function replace() {
  const { revoked } = await call(`/${campaign.id}/invitations/revoke`, {});
  await invite({ header: [], rows: Array.from({ length: revoked }, () => []) });
}

async function confirmed(dialog, act) {
  if ((await ask(dialog)) === "yes") await act();
}

/** @param {string} id of a dialog @returns {Promise<string>} the value of the button */
export function ask(id) {
  const dialog = byId(id);
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true });
  });
}
