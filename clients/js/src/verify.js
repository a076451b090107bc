/** Reading a mechanism is verifying it: one that breaks a promise is refused, with the reason. */
import { ChannelMechanism } from "./channel.js";
import { ForsoothError } from "./error.js";
import { SafeFactorization } from "./factorization.js";
import { anInteger, anObject, aText, parseJson, shown } from "./json.js";
import { LaplaceMechanism } from "./laplace.js";
import { checkEpsilon } from "./mechanism.js";

/** @typedef {import("./mechanism.js").Mechanism} Mechanism */

const FORMAT = 1n;
/** @type {Record<string, new (json: import("./json.js").JsonObject) => Mechanism>} */
const KINDS = {
  channel: ChannelMechanism,
  laplace: LaplaceMechanism,
  "safe-factorization": SafeFactorization,
};
/** @type {Record<string, string>} */
const UNSUPPORTED = {
  "two-layer": "two-layer",
  "matrix-factorization": "mf",
  "sampled-tasks": "unit=worker",
};

/**
 * A mechanism from its JSON text. Whatever breaks the promise that the text itself makes is refused.
 * @param {string} text
 * @returns {Mechanism}
 */
export function readMechanism(text) {
  const json = anObject(parseJson(text), "a mechanism");
  const format = anInteger(json.get("forsooth"), "the format's version");
  if (format !== FORMAT) {
    throw new ForsoothError(`this mechanism is of version ${format}; this client reads ${FORMAT}`);
  }
  const kind = aText(json.get("kind"), "kind");
  if (Object.hasOwn(UNSUPPORTED, kind)) {
    throw new ForsoothError(
      `this client cannot verify the mechanism ${UNSUPPORTED[kind]} (kind ${kind}), ` +
        "so it does not take part",
    );
  }
  if (!Object.hasOwn(KINDS, kind)) {
    throw new ForsoothError(`unknown kind of mechanism ${shown(kind)}`);
  }
  const mechanism = new KINDS[kind](json);
  requireEpsilon(mechanism, mechanism.epsilon, "the mechanism promises");
  return mechanism;
}

/**
 * What was found, in numbers to show.
 * @typedef {object} Verification
 * @property {string} mechanism its name
 * @property {import("./mechanism.js").Protects} protects
 * @property {number} promised ε per answer, as the campaign says
 * @property {number} value exact ε for changing one answer, rounded up
 * @property {number} participation exact ε for giving an answer or not; Infinity where it is public
 * @property {number} tasks
 * @property {number} total ε for all of one worker's cells together, at most
 * @property {number | null} limit the worker's own
 */

/**
 * Refuse a mechanism that gives away more than a campaign promises or a worker allows.
 * @param {Mechanism} mechanism
 * @param {{tasks: number, promised: number, limit?: number | null}} claims ε per answer
 * @returns {Verification}
 */
export function verify(mechanism, { tasks, promised, limit = null }) {
  requireEpsilon(mechanism, checkEpsilon(promised), "the campaign promises");
  if (limit !== null) requireEpsilon(mechanism, checkEpsilon(limit), "your own limit is");
  const { value, participation } = mechanism.exact;
  const { name, protects } = mechanism;
  const total = mechanism.epsilon * tasks;
  return { mechanism: name, protects, promised, value, participation, tasks, total, limit };
}

/**
 * @param {Mechanism} mechanism
 * @param {number} epsilon
 * @param {string} whose
 */
function requireEpsilon(mechanism, epsilon, whose) {
  const { exact, protects } = mechanism;
  const hidden = protects === "answers+participation";
  for (const kind of /** @type {const} */ (["value", "participation"])) {
    if (exact[kind] > epsilon && (kind === "value" || hidden)) {
      const what = kind === "value" ? "what you answered" : "whether you answered";
      throw new ForsoothError(
        `refused: ${whose} ε = ${epsilon}, but ${what} is protected with ε = ${exact[kind]} only: ` +
          exact.because[kind],
      );
    }
  }
}
