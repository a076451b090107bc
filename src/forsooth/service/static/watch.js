/** One campaign, live: reports so far, results so far, and whether they are enough. */
import { call, callForBlob, save } from "./api.js";
import { drawQuality, drawTruths, interval, probable, reading } from "./charts.js";
import { byId, cell, element, quantity, shown } from "./dom.js";
import { beginInvitations, inviteMany, prepareInvitations, showInvitations } from "./invitations.js";
import { prepareLife, showLife } from "./life.js";
import { showShares } from "./shares.js";

const EVERY = 2000; // milliseconds between two looks
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
      const name = button.dataset.export;
      const news = name.startsWith("documents/") ? "documents-news" : "export-news";
      attempt(byId(news), () => download(name));
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
  for (const name of ["life-news", "documents-news", "export-news", "assumption"]) byId(name).textContent = "";
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
  const file = name.split("/").at(-1);
  save(blob, blob.type === "application/zip" ? file.replace(/\w+$/, "zip") : file);
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
  showEnough(enough, closed);
  const now = `${watched} ${reports}`;
  if (!ready || now === drawn) return;
  drawn = now;
  byId("assumption").textContent = assumption(found);
  if (opinion) showShares(found);
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

function showLevels(found) {
  const { truths, scale, quality } = found;
  const label = found.estimand === "label";
  byId("probable").hidden = !label;
  byId("bounds").hidden = label;
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
        cell("Truth", label ? (truth.label ?? shown(truth.truth)) : reading(truth)),
        label
          ? cell("Probable answers", probable(truth.probabilities, scale.labels))
          : cell("90 % interval", interval(truth)),
      ),
    ),
  );
  const known = (truth) =>
    label
      ? probable(truth.probabilities, scale.labels)
      : `${reading(truth)}, 90 % interval ${interval(truth)}`;
  const pointed = (place) => {
    const truth = truths[place];
    byId("truth-caption").textContent = truth
      ? `${truth.text}: ${known(truth)}`
      : "Points are estimates, bars their 90 % intervals.";
  };
  pointed(null);
  byId("truth-chart").setAttribute("aria-label", "Estimates with intervals; the table has the numbers");
  drawTruths(byId("truth-chart"), found, pointed);
  byId("quality-chart").setAttribute("aria-label", qualityInWords(quality));
  drawQuality(byId("quality-chart"), quality);
}

function showEnough(enough, closed) {
  const place = byId("enough");
  place.textContent = !enough ? "–" : enough.enough ? "Yes" : closed ? "No" : "Not yet";
  place.className = !enough ? "figure" : enough.enough ? "figure yes" : "figure no";
  byId("why").textContent = enough?.why ?? "Known after the first reports.";
  byId("more").textContent = furtherReports(enough);
}

/** How many more reports are needed, as a range; nothing as long as it cannot be said. */
function furtherReports(enough) {
  if (!enough?.more_reports) return "";
  const { low, high } = enough.more_reports;
  const many = low > 0 ? `About ${rough(low)} to ${rough(high)}` : `Up to about ${rough(high)}`;
  return `${many} more reports are needed for the requested precision.`;
}

/** A whole number with two digits that count. */
function rough(value) {
  return shown(Number(value.toPrecision(2)));
}

function qualityInWords({ edges, counts }) {
  const parts = counts.map(
    (count, bin) => `${shown(count)} at ${shown(edges[bin])} to ${shown(edges[bin + 1])}`,
  );
  return `Workers by distance from the truths: ${parts.filter((_, bin) => counts[bin]).join(", ")}`;
}
