/**
 * A panel (Prolific, MTurk, …): it sends its people to the link with their id, and pays those who come
 * back. The service gets a keyed hash of the id instead, so that an id can report once.
 */
import { base64url } from "./bytes.js";
import { ForsoothError } from "./error.js";
import { anObject, aText } from "./json.js";

/**
 * @typedef {object} Panel
 * @property {string} parameter the name under which the address has the id
 * @property {string | null} completionCode shown when the report has arrived
 * @property {string | null} completionUrl where people go then
 * @property {string | null} closedUrl where people go who come too late
 */

const LOOPBACK = ["localhost", "127.0.0.1"];

/**
 * @param {unknown} json
 * @returns {Panel | null}
 */
export function parsePanel(json) {
  if (json === undefined || json === null) return null;
  const panel = anObject(json, "panel");
  const text = (/** @type {string} */ name) => {
    const value = panel.get(name) ?? null;
    return value === null ? null : aText(value, name);
  };
  return {
    parameter: aText(panel.get("parameter"), "parameter"),
    completionCode: text("completion_code"),
    completionUrl: checkedUrl(text("completion_url")),
    closedUrl: checkedUrl(text("closed_url")),
  };
}

/**
 * The token of the person whom the panel sent; null if their id does not stand in the address, neither
 * after ? nor after #. HMAC-SHA-256 with the campaign's public id as its key: tokens of two campaigns
 * have nothing in common, but somebody who knows an id can compute its token.
 * @param {string} url as the person opened it
 * @param {Panel} panel
 * @returns {Promise<string | null>}
 */
export async function panelToken(url, { parameter }) {
  const { searchParams, hash, pathname } = new URL(url, globalThis.location?.href);
  const campaign = pathname.replace(/\/$/, "").split("/").at(-1) ?? "";
  const id = new URLSearchParams(hash.slice(1)).get(parameter) || searchParams.get(parameter);
  if (!id) return null;
  const [secret, message] = [campaign, id].map((text) => new TextEncoder().encode(text));
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", secret, hmac, false, ["sign"]);
  return `open-${base64url(new Uint8Array(await crypto.subtle.sign("HMAC", key, message)))}`;
}

/** @param {string} parameter */
export function idIsMissing(parameter) {
  return new ForsoothError(
    `this survey is for people whom a panel sends: open it from there. Its address has no ${parameter}`,
    "input",
  );
}

/**
 * An address to go to; never one that is a program.
 * @param {string | null} text
 */
function checkedUrl(text) {
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  const isSafe = url?.protocol === "https:" || LOOPBACK.includes(url?.hostname ?? "");
  if (!isSafe || !/^https?:$/.test(url?.protocol ?? ""))
    throw new ForsoothError("refused: the panel's address does not begin with https://");
  return text;
}
