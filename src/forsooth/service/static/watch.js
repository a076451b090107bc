/** One campaign, live: reports so far, results so far, and whether they are enough. */
import { call, callForBlob, save } from "./api.js";
import { drawQuality, drawTruths, interval, probable, question, reading } from "./charts.js";
import { byId, cell, element, quantity, shown } from "./dom.js";
import { beginInvitations, inviteMany, prepareInvitations, showInvitations } from "./invitations.js";
import { prepareLife, showLife } from "./life.js";

const EVERY = 2000; // milliseconds between two looks
const MOST_QUESTIONS = 300; // shown as bars; the CSV file has all
const view = byId("campaign");

/** The campaign that is being watched, and the inference that is shown. */
let watched = "";
let drawn = "";
let timer = 0;
/** @type {{trouble: (error: Error | null) => void, appear: () => void}} */
let page;

/** @param {typeof page} callbacks what to do when a look fails (null: all is well), or is the first */
export function prepareView(callbacks) {
  page = callbacks;
  prepareInvitations(attempt, look);
  prepareLife(attempt, (status) => {
    showStatus(status);
    look();
  });
  for (const button of view.querySelectorAll("[data-export]")) {
    button.addEventListener("click", () => {
      attempt(byId("export-news"), () => download(button.dataset.export));
    });
  }
  document.addEventListener("visibilitychange", () => {
    if (watched && !document.hidden) look();
  });
}

/** Begin to watch a campaign, and make invitations if it has just been made. */
export async function watch(id, invitations = 0) {
  watched = id;
  drawn = "";
  for (const name of ["truths-body", "opinions", "quality", "designs"]) byId(name).hidden = true;
  for (const name of ["life-news", "export-news", "assumption"]) byId(name).textContent = "";
  beginInvitations(id);
  await look();
  if (invitations) await inviteMany(invitations);
}

export function stopWatching() {
  watched = "";
  clearTimeout(timer);
}

async function look() {
  clearTimeout(timer);
  const id = watched;
  try {
    const status = await call(`/${id}/status`);
    if (id !== watched) return;
    showStatus(status);
    if (view.hidden) page.appear();
    if (!byId("collected").hidden) showTruths(await call(`/${id}/truths`), status);
    page.trouble(null);
  } catch (error) {
    if (id !== watched) return;
    page.trouble(error);
    if (error.status === 404) stopWatching();
  }
  if (!document.hidden && watched) timer = setTimeout(look, EVERY);
}

/** @param {HTMLElement} place where a refusal is shown @param {() => Promise<void>} act */
async function attempt(place, act) {
  place.textContent = "";
  try {
    await act();
  } catch (error) {
    place.textContent = error.message;
  }
}

async function download(name) {
  const blob = await callForBlob(`/${watched}/${name}`);
  save(blob, blob.type === "application/zip" ? name.replace(/\w+$/, "zip") : name);
}

function showStatus(status) {
  const { reports, designs } = status;
  document.title = `${status.title} · forsooth`;
  byId("campaign-title").textContent = status.title;
  byId("facts").textContent = factsOf(status);
  byId("reports").textContent = counted(status);
  byId("reports-of").textContent = expected(status);
  byId("collected").hidden = ["draft", "deleted"].includes(status.state);
  showLife(status);
  showInvitations(status);
  byId("spent").textContent = reports
    ? `Ledger: no invitation has spent more than ε = ${shown(status.spent.largest, 4)} in all.`
    : "";
  byId("designs").hidden = designs.length < 2;
  byId("design-rows").replaceChildren(
    ...designs.map((design) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, `${design.number}${design.current ? " (in use)" : ""}`),
        element("td", {}, design.mechanism),
        element("td", { className: "number" }, shown(design.reports)),
      ),
    ),
  );
}

function factsOf({ tasks, epsilon, unit, protects, mechanism, closes_at, closed }) {
  const hidden = protects === "answers" ? "answers hidden" : "answers and participation hidden";
  return [
    quantity(tasks, "question"),
    `ε = ${shown(epsilon, 4)} per ${unit === "cell" ? "question" : "person"}`,
    hidden,
    mechanism,
    ...(closes_at && !closed ? [`closes ${new Date(closes_at).toLocaleString()}`] : []),
  ].join(" · ");
}

/** How many reports are shown: in batches, so that nobody learns when a single one came in. */
export function counted({ reports, batch, closed }) {
  return reports === 0 && !closed && batch > 1 ? "–" : shown(reports);
}

function expected({ open, invitations, max_reports, batch, closed }) {
  return [
    open ? "by the open link" : `of ${shown(invitations)} invited`,
    max_reports ? `closes at ${shown(max_reports)}` : "",
    closed || batch === 1 ? "" : `shown in batches of ${shown(batch)} or more until it is closed`,
  ]
    .filter(Boolean)
    .join("; ");
}

function showTruths(found, { batch, closed }) {
  const { state, reports, received, enough, participation, quality } = found;
  const ready = state === "ready";
  byId("truths-state").textContent = ready
    ? `From ${quantity(reports, "report")}${unread(received - reports)}.`
    : state === "pending"
      ? "Reading the first reports …"
      : closed || batch === 1
        ? "No reports yet."
        : `No results yet: reports are read in batches of ${shown(batch)} or more, and all when you close the campaign.`;
  const opinion = found.estimand === "opinion";
  byId("truths-body").hidden = !ready || opinion;
  byId("opinions").hidden = !ready || !opinion;
  byId("quality").hidden = !ready || quality === null;
  byId("participation").textContent =
    participation === null ? "–" : `${shown(100 * participation, 0)} %`;
  showEnough(enough);
  const now = `${watched} ${reports}`;
  if (!ready || now === drawn) return;
  drawn = now;
  byId("assumption").textContent = assumption(found);
  if (opinion) showOpinions(found);
  else showLevels(found);
}

function unread(more) {
  return more > 0 ? `; ${shown(more)} more ${more === 1 ? "is" : "are"} being read` : "";
}

function assumption({ estimand, meaning }) {
  const others = ["level", "label", "opinion"].filter((each) => each !== estimand);
  return (
    `Assumed: ${meaning} (estimand ${estimand}). If that is not so, download the reports and run ` +
    `forsooth infer with --estimand ${others.join(" or --estimand ")}.`
  );
}

function showOpinions({ truths, scale }) {
  const first = truths.slice(0, MOST_QUESTIONS);
  const top = Math.max(...first.flatMap(({ shares }) => shares.map((share) => share.high)));
  byId("questions").replaceChildren(...first.map((each) => question(each, scale.labels, top)));
  byId("questions-rest").textContent =
    truths.length > first.length
      ? `The first ${shown(first.length)} of ${shown(truths.length)} questions; Truths (CSV) has all.`
      : "";
}

function showLevels(found) {
  const { truths, scale, quality } = found;
  const label = found.estimand === "label";
  byId("probable").hidden = !label;
  byId("truth-rows").replaceChildren(
    ...truths.map((truth) =>
      element(
        "tr",
        { role: "row" },
        element(
          "th",
          { role: "rowheader", scope: "row" },
          element("span", { className: "soft" }, `${truth.task} `),
          truth.text,
        ),
        cell("Truth", reading(truth)),
        cell("90 % interval", interval(truth)),
        ...(label ? [cell("Probable answers", probable(truth.probabilities, scale.labels))] : []),
      ),
    ),
  );
  const pointed = (place) => {
    const truth = truths[place];
    byId("truth-caption").textContent = truth
      ? `${truth.text}: ${reading(truth)}, 90 % interval ${interval(truth)}`
      : "Points are estimates, bars their 90 % intervals.";
  };
  pointed(null);
  byId("truth-chart").setAttribute("aria-label", "Estimates with intervals; the table has the numbers");
  drawTruths(byId("truth-chart"), found, pointed);
  byId("quality-chart").setAttribute("aria-label", qualityInWords(quality));
  drawQuality(byId("quality-chart"), quality);
}

function showEnough(enough) {
  const place = byId("enough");
  if (!enough) {
    place.textContent = "–";
    place.className = "figure";
    byId("why").textContent = "Known after the first reports.";
    return;
  }
  const more = enough.more_reports;
  place.textContent = enough.enough
    ? "Yes"
    : more === null
      ? "No"
      : `Not yet: about ${shown(more)} more`;
  place.className = enough.enough ? "figure yes" : "figure no";
  byId("why").textContent = enough.why;
}

function qualityInWords({ edges, counts }) {
  const parts = counts.map(
    (count, bin) => `${shown(count)} at ${shown(edges[bin])} to ${shown(edges[bin + 1])}`,
  );
  return `Workers by distance from the truths: ${parts.filter((_, bin) => counts[bin]).join(", ")}`;
}
