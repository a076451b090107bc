/** How a campaign is presented: texts, a logo, words for the ends of the scale, the order, pages. */
import { base64, hex, sha256 } from "./bytes.js";
import { ForsoothError } from "./error.js";
import { aList, anInteger, anObject, aText, aTruth } from "./json.js";

/**
 * @typedef {object} Presentation
 * @property {string} introduction
 * @property {string} consent people must agree to it before they see the questions
 * @property {string} thanks
 * @property {{digest: string, type: string} | null} logo
 * @property {[string, string] | null} ends words for the lowest and the highest answer
 * @property {boolean} shuffled the device draws an order of the questions
 * @property {number | null} perPage
 */

const PICTURES = ["image/png", "image/jpeg", "image/webp"];

/**
 * @param {unknown} json
 * @returns {Presentation}
 */
export function parsePresentation(json) {
  const given = anObject(json ?? new Map(), "presentation");
  const text = (/** @type {string} */ name) => aText(given.get(name) ?? "", name);
  const perPage = given.get("per_page") ?? null;
  return {
    introduction: text("introduction"),
    consent: text("consent"),
    thanks: text("thanks"),
    logo: logoOf(given.get("logo") ?? null),
    ends: endsOf(given.get("ends") ?? null),
    shuffled: aTruth(given.get("shuffled") ?? false, "shuffled"),
    perPage: perPage === null ? null : Number(anInteger(perPage, "per_page", 1n)),
  };
}

/**
 * A picture as a data: URL, which is the one that the campaign names.
 * @param {import("./service.js").Network} network
 * @param {string} address
 * @param {{digest: string, type: string}} logo
 */
export async function fetchLogo(network, address, { digest, type }) {
  const options = /** @type {RequestInit} */ ({ credentials: "omit", redirect: "error" });
  const response = await network.fetch(`${address}/logos/${digest}`, options);
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (hex(await sha256(bytes)) !== digest)
    throw new ForsoothError("the logo is not the one that the campaign names (its SHA-256 differs)");
  return `data:${type};base64,${base64(bytes)}`;
}

/** @param {unknown} json */
function logoOf(json) {
  if (json === null) return null;
  const logo = anObject(json, "logo");
  const digest = aText(logo.get("digest"), "digest");
  const type = aText(logo.get("media_type"), "media_type");
  if (!/^[0-9a-f]{64}$/.test(digest) || !PICTURES.includes(type))
    throw new ForsoothError("refused: the logo has no SHA-256, or is no PNG, JPEG or WebP");
  return { digest, type };
}

/**
 * @param {unknown} json
 * @returns {[string, string] | null}
 */
function endsOf(json) {
  if (json === null) return null;
  const words = aList(json, "ends").map((word) => aText(word, "ends"));
  if (words.length !== 2) throw new ForsoothError("ends must be two texts");
  return [words[0], words[1]];
}
