/** Why no report can be sent now: asked before anything is answered, not after. */
import { sha256Hex } from "./bytes.js";
import { ForsoothError } from "./error.js";
import { anObject, parseJson } from "./json.js";
import { request } from "./service.js";

/** @typedef {"draft" | "paused" | "closed" | "already-reported" | "unknown-invitation"} Obstacle */

/**
 * The service is given the hash of the token, with which nobody can report.
 * @param {import("./service.js").Network} network
 * @param {string} address
 * @param {string} token
 * @returns {Promise<Obstacle | null>}
 */
export async function obstacleOf(network, address, token) {
  const body = JSON.stringify({ hash: await sha256Hex(token) });
  try {
    const { text } = await request(network, `${address}/check`, body);
    const found = anObject(parseJson(text), "the service's answer").get("invitation");
    if (found === "used") return "already-reported";
    return found === "unknown" ? "unknown-invitation" : null;
  } catch (error) {
    if (error instanceof ForsoothError && error.code === "unreachable") throw error;
    return null; // a service of version 0.1 cannot be asked
  }
}
