/** Talking to the collection service: the same bytes again until it has answered. */
import { decodeText } from "./bytes.js";
import { ForsoothError } from "./error.js";
import { parseJson } from "./json.js";

/**
 * @typedef {object} Network
 * @property {typeof fetch} fetch
 * @property {(seconds: number) => Promise<unknown>} wait
 */

/** @type {Network} */
export const internet = {
  fetch: (url, options) => fetch(url, options),
  wait: (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds)),
};

const ATTEMPTS = 6;
const LONGEST_WAIT = 60; // seconds
const PATIENCE = 30_000; // milliseconds for one attempt

/**
 * One request, repeated as it is while the network fails or the service is busy.
 * @param {Network} network
 * @param {string} url
 * @param {string} [body] of a POST; without it, a GET
 * @returns {Promise<{status: number, text: string}>}
 */
export async function request(network, url, body) {
  let failure = "no answer";
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    let pause = 2 ** attempt;
    try {
      const response = await network.fetch(url, {
        ...optionsFor(body),
        signal: AbortSignal.timeout(PATIENCE),
      });
      const text = decodeText(await response.arrayBuffer());
      if (response.ok) return { status: response.status, text };
      if (response.status < 500 && response.status !== 429) throw complaint(response.status, text);
      failure = `status ${response.status}`;
      pause = Number(response.headers.get("Retry-After") ?? NaN) || pause;
    } catch (error) {
      if (error instanceof ForsoothError) throw error;
      failure = error instanceof Error ? error.message : String(error);
    }
    if (attempt + 1 < ATTEMPTS) await network.wait(Math.min(pause, LONGEST_WAIT));
  }
  throw new ForsoothError(
    `the service cannot be reached (${failure}). Try again later: the same report will be sent`,
    "unreachable",
  );
}

/**
 * @param {string | undefined} body
 * @returns {RequestInit}
 */
function optionsFor(body) {
  /** @type {RequestInit} */
  const common = { credentials: "omit", referrerPolicy: "no-referrer", redirect: "error" };
  if (body === undefined) return common;
  return {
    ...common,
    method: "POST",
    body,
    cache: "no-store",
    headers: { "Content-Type": "application/json" },
  };
}

/**
 * The service's own words where it has any.
 * @param {number} status
 * @param {string} text
 */
function complaint(status, text) {
  let detail;
  try {
    detail = /** @type {any} */ (parseJson(text)).get("detail");
  } catch {
    // a proxy's page, perhaps; the status is all there is
  }
  const [message, code] = detail instanceof Map ? [detail.get("message"), detail.get("error")] : [];
  return new ForsoothError(
    typeof message === "string" ? message : `the service refused the request (status ${status})`,
    typeof code === "string" ? code : `status-${status}`,
  );
}
