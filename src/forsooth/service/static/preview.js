/** A preview for those who make a survey: the page as it is, on a network and a store that keep nothing. */
import { memoryStore } from "./forsooth-client.js";
import { byId } from "./dom.js";

const ANYBODY = `open-${"A".repeat(43)}`; // somebody with an open link, or from a panel
const PREVIEW = /#preview(?:=([A-Za-z0-9_-]{43}))?$/;

/**
 * How the campaign is opened for a preview; null if the link asks for none.
 * @param {string} link https://…/c/ID#preview, with invitations #preview=TOKEN, where any token will do
 */
export function previewOf(link) {
  const found = PREVIEW.exec(link);
  if (!found) return null;
  byId("preview").hidden = false;
  const invitation = found[1] ?? ANYBODY;
  const options = { invitation, store: memoryStore(), network: { fetch: read, wait } };
  return { link: link.slice(0, found.index), options };
}

/** Reading is allowed. What would be sent ends here, and counts as accepted. */
async function read(url, options) {
  if ((options?.method ?? "GET") === "GET") return fetch(url, options);
  return Response.json({ status: "accepted" }, { status: 201 });
}

function wait(seconds) {
  return new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
}
