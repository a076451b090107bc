/**
 * Anonymous campaigns: check what is announced to everybody, get a token, wait for a random time.
 *
 * The link has the digest of the campaign's document. What the document says is the same for everybody
 * who has a link with this digest: the questions, the mechanism, and the one key that signs tokens.
 */
import { blindToken, finishToken, prepareToken, readIssuingKey } from "./blind.js";
import { base64, fromBase64, sha256Hex } from "./bytes.js";
import { ForsoothError } from "./error.js";
import { anInteger, anObject, aText, parseJson } from "./json.js";
import { request } from "./service.js";

/** @typedef {import("./json.js").JsonObject} JsonObject */
/** @typedef {import("./memory.js").Kept} Kept */
/** @typedef {{digest: string, key: import("./blind.js").IssuingKey, batch: number}} Announced */

/** Seconds: a report is sent at a random time within the ten minutes after its token. */
export const DELAY = 600;
const WORD_VALUES = 2 ** 32;

/**
 * A campaign with what its document says in place of what its service says.
 * @param {JsonObject} view
 * @param {string} address
 * @param {string | undefined} digest that the link has
 * @returns {Promise<{view: JsonObject, announced: Announced | null}>}
 */
export async function announcedIn(view, address, digest) {
  const given = view.get("anonymous") ?? null;
  if (given === null && digest === undefined) return { view, announced: null };
  if (given === null || digest === undefined) {
    const missing = given === null ? "its service does not say so" : "the link has no ?d=…";
    throw new ForsoothError(
      `refused: this campaign is anonymous, but ${missing}. Open the whole link that you were sent`,
    );
  }
  const text = aText(anObject(given, "anonymous").get("document"), "document");
  if ((await sha256Hex(text)) !== digest) {
    throw new ForsoothError(
      "refused: the campaign or its issuing key is not the one that the link names (the digest of " +
        "its document differs)",
    );
  }
  const document = anObject(parseJson(text), "the document");
  if (document.get("id") !== address.slice(address.lastIndexOf("/") + 1)) {
    throw new ForsoothError("refused: the document is that of another campaign");
  }
  const batch = Number(anInteger(document.get("batch"), "batch", 1n));
  const key = readIssuingKey(document.get("issuing_key"));
  return { view: new Map([...view, ...document]), announced: { digest, key, batch } };
}

/**
 * A token, blinded; it is kept before anything is sent, so that there is one only.
 * @param {Announced} announced
 * @param {string} serial
 * @param {string} invitation
 * @returns {Promise<import("./memory.js").Blinding>}
 */
export async function blindingOf({ key, digest }, serial, invitation) {
  const { blinded, inverse } = await blindToken(key, prepareToken(serial, digest));
  return { invitation, blinded: base64(blinded), inverse: inverse.toString(16), due: null };
}

/**
 * The report with its signed token, to be sent at a random time.
 * @param {import("./service.js").Network} network
 * @param {string} address
 * @param {Announced} announced
 * @param {Kept} kept
 * @param {number} delay
 * @returns {Promise<Kept>}
 */
export async function withToken(network, address, { key, digest }, kept, delay) {
  const own = kept.anonymous;
  if (!own || own.blinded === null || own.inverse === null) return kept;
  const asked = JSON.stringify({ invitation: own.invitation, blinded: own.blinded });
  const { text } = await request(network, `${address}/signatures`, asked);
  const answer = anObject(parseJson(text), "the service's answer").get("signature");
  const prepared = prepareToken(kept.invitation, digest);
  const signed = fromBase64(aText(answer, "signature"));
  const signature = await finishToken(key, prepared, signed, BigInt(`0x${own.inverse}`));
  const body = { ...JSON.parse(String(kept.body)), signature: base64(signature) };
  const [word] = crypto.getRandomValues(new Uint32Array(1));
  const due = Math.floor(Date.now() / 1000 + (delay * word) / WORD_VALUES);
  const anonymous = { invitation: own.invitation, blinded: null, inverse: null, due };
  return { ...kept, body: JSON.stringify(body), anonymous };
}

/**
 * How long a report still waits for its random time, in seconds.
 * @param {Kept} kept
 */
export function secondsLeft({ anonymous }) {
  return Math.max(0, (anonymous?.due ?? 0) - Date.now() / 1000);
}
