/** Reading a mechanism is verifying it: one that breaks a promise is refused, with the reason. */
import { ChannelMechanism } from "./channel.js";
import { ForsoothError } from "./error.js";
import { SafeFactorization } from "./factorization.js";
import { anInteger, anObject, aText, parseJson, shown } from "./json.js";
import { LaplaceMechanism } from "./laplace.js";
import { checkEpsilon, checkProtects } from "./mechanism.js";
import { PresenceLaplace } from "./presence.js";
import { SampledTasks } from "./sampled.js";

/** @typedef {import("./mechanism.js").Mechanism} Mechanism */

const FORMAT = 1n;
/** @type {Record<string, new (json: import("./json.js").JsonObject, read: typeof readMechanism) => Mechanism>} */
const KINDS = {
  channel: ChannelMechanism,
  laplace: LaplaceMechanism,
  "presence-laplace": PresenceLaplace,
  "safe-factorization": SafeFactorization,
  "sampled-tasks": SampledTasks,
};
/** @type {Record<string, string>} */
const UNSUPPORTED = {
  "two-layer": "two-layer",
  "matrix-factorization": "mf",
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
  const mechanism = new KINDS[kind](json, readMechanism);
  requireEpsilon(mechanism, mechanism.epsilon, "the mechanism promises");
  return mechanism;
}

/**
 * What was found, in numbers to show.
 * @typedef {object} Verification
 * @property {string} mechanism its name
 * @property {import("./mechanism.js").Protects} protects
 * @property {"cell" | "worker"} unit what `promised`, `value` and `participation` are for: one
 *   answer, or everything one worker says
 * @property {number} promised ε, as the campaign says
 * @property {number} value exact ε for changing answers, rounded up
 * @property {number} participation exact ε for giving them or not; Infinity where it is public
 * @property {number} tasks
 * @property {number | null} cells how many of them can influence the report; null: all
 * @property {number} epsilon ε for one answer, as the mechanism says
 * @property {number} total ε for everything one worker says, at most
 * @property {number | null} limit the worker's own, for one answer
 * @property {number | null} totalLimit the worker's own, for everything
 */

/**
 * Refuse a mechanism that gives away more than a campaign promises or a worker allows.
 * @param {Mechanism} mechanism
 * @param {object} claims
 * @param {number} claims.tasks
 * @param {number} claims.promised ε of the unit
 * @param {string} [claims.unit] what the promise is for: "cell" or "worker"
 * @param {number | null} [claims.limit] the largest ε for one answer
 * @param {number | null} [claims.totalLimit] the largest ε for everything one worker says
 * @param {import("./mechanism.js").Protects} [claims.protects] what must be protected at least
 * @returns {Verification}
 */
export function verify(
  mechanism,
  {
    tasks,
    promised,
    unit = "cell",
    limit = null,
    totalLimit = null,
    protects: demanded = "answers+participation",
  },
) {
  const { name, protects, cell, cells } = mechanism;
  if (checkProtects(demanded) === "answers+participation" && protects === "answers") {
    throw new ForsoothError(
      "refused: this campaign protects answers only: everybody sees which questions you answered. " +
        "Agree to that (protects: \"answers\"), or do not take part",
      "weaker",
    );
  }
  const found = cells === null ? "cell" : "worker";
  if (unit !== found) {
    throw new ForsoothError(
      `refused: the campaign promises ε per ${unit}, its mechanism gives ε per ${found}`,
    );
  }
  requireEpsilon(mechanism, checkEpsilon(promised), "the campaign promises");
  if (limit !== null) requireEpsilon(cell, checkEpsilon(limit), "your own limit is");
  const total = mechanism.total(tasks);
  if (totalLimit !== null && total > checkEpsilon(totalLimit)) {
    throw new ForsoothError(
      `refused: your own limit for everything you say is ε = ${totalLimit}, this campaign asks ` +
        `for ε = ${total}`,
    );
  }
  const { value, participation } = mechanism.exact;
  const { epsilon } = cell;
  const measured = { value, participation, tasks, cells, epsilon, total };
  return { mechanism: name, protects, unit: found, promised, ...measured, limit, totalLimit };
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
