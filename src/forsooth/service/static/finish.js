/** The way back to the panel that sent somebody, where there is one. */
import { byId, element } from "./dom.js";

/**
 * Show the completion code and the way back, once the report has arrived.
 * @param {import("./forsooth-client.js").Campaign} campaign
 */
export function showCompletion({ panel }) {
  if (!panel) return;
  const { completionCode, completionUrl } = panel;
  byId("completion").replaceChildren(
    ...(completionCode
      ? [element("p", {}, "Your completion code: ", element("strong", { id: "code" }, completionCode))]
      : []),
    ...(completionUrl ? [wayBack(completionUrl)] : []),
  );
}

/**
 * Lead people who came too late back to the panel.
 * @param {import("./forsooth-client.js").Campaign | undefined} campaign
 */
export function leaveClosed(campaign) {
  const url = campaign?.panel?.closedUrl;
  if (!url) return;
  byId("problem").append(wayBack(url));
  location.assign(url);
}

/** @param {string} url */
function wayBack(url) {
  return element("p", {}, element("a", { href: url }, `Back to ${new URL(url).hostname}`));
}
