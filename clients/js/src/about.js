/** What a link and a service say of a campaign, read as strictly as a mechanism. */
import { sha256Hex } from "./bytes.js";
import { ForsoothError } from "./error.js";
import { aList, aNumber, anObject, aText, aTruth, texts } from "./json.js";
import { checkProtects } from "./mechanism.js";
import { parsePanel } from "./panel.js";
import { parsePresentation } from "./presentation.js";
import { request } from "./service.js";

/** @typedef {{id: string, text: string, image: string | null, section?: string | null}} Task */
/** @typedef {ReturnType<typeof parseAbout>} About */

/**
 * The campaign's address in the API, always written in one way, the token after # and, of an anonymous
 * campaign, the digest after ?d= if they are there.
 * @param {string} url https://…/c/ID or https://…/v1/campaigns/ID
 */
export function parseLink(url) {
  let parsed;
  try {
    parsed = new URL(url, globalThis.location?.href);
  } catch {
    throw new ForsoothError(`this is not the address of a campaign: ${url}`, "input");
  }
  const found = /^(.*)\/(?:c|v1\/campaigns)\/([^/]+)\/?$/.exec(parsed.pathname);
  if (!found) throw new ForsoothError(`this is not the address of a campaign: ${url}`, "input");
  const token = parsed.hash.slice(1) || undefined;
  parsed.hostname = parsed.hostname.replace(/\.$/, ""); // the same host, with its root's dot
  const digest = parsed.searchParams.get("d") ?? undefined;
  return { address: `${parsed.origin}${found[1]}/v1/campaigns/${found[2]}`, token, digest };
}

/** @param {import("./json.js").JsonObject} json */
export function parseAbout(json) {
  const scale = anObject(json.get("scale"), "scale");
  const tasks = aList(json.get("tasks"), "tasks").map((item) => {
    const task = anObject(item, "a task");
    const image = task.get("image") ?? null;
    const section = task.get("section") ?? null;
    return {
      id: aText(task.get("id"), "a task's id"),
      text: aText(task.get("text"), "a task's text"),
      image: image === null ? null : aText(image, "a task's image"),
      section: section === null ? null : aText(section, "a task's section"),
    };
  });
  texts(
    tasks.map((task) => task.id),
    "tasks",
  );
  if (tasks.length === 0) throw new ForsoothError("this campaign has no tasks");
  const values = texts(scale.get("values"), "the scale's values");
  const labels = aList(scale.get("labels"), "labels").map((label) => aText(label, "a label"));
  if (labels.length !== values.length)
    throw new ForsoothError("every answer of the scale needs a label");
  return {
    title: aText(json.get("title"), "title"),
    description: aText(json.get("description") ?? "", "description"),
    presentation: parsePresentation(json.get("presentation")),
    tasks,
    values,
    labels,
    epsilon: aNumber(json.get("epsilon"), "ε"),
    unit: aText(json.get("unit") ?? "cell", "unit"),
    protects: checkProtects(json.get("protects")),
    design: aText(json.get("design"), "design"),
    invitationRequired: aTruth(json.get("invitation_required"), "invitation_required"),
    closed: aTruth(json.get("closed"), "closed"),
    life: lifeOf(json.get("state") ?? (json.get("closed") ? "closed" : "open")),
    retentionDays: optional(json.get("retention_days"), "retention_days"),
    panel: parsePanel(json.get("panel")),
  };
}

/**
 * @param {unknown} state
 * @returns {"draft" | "open" | "paused" | "closed"}
 */
function lifeOf(state) {
  if (state === "draft" || state === "open" || state === "paused" || state === "closed") return state;
  throw new ForsoothError("state must be draft, open, paused or closed");
}

/**
 * @param {unknown} value
 * @param {string} name
 */
function optional(value, name) {
  return value === undefined || value === null ? null : aNumber(value, name);
}

/**
 * The text of a design, which is named by its SHA-256.
 * @param {import("./service.js").Network} network
 * @param {string} address
 * @param {string} design
 */
export async function fetchDesign(network, address, design) {
  if (!/^[0-9a-f]{64}$/.test(design))
    throw new ForsoothError("refused: the design's name is no SHA-256");
  const { text } = await request(network, `${address}/designs/${design}`);
  if ((await sha256Hex(text)) !== design) {
    throw new ForsoothError(
      "refused: the mechanism is not the one that the campaign names (its SHA-256 differs)",
    );
  }
  return text;
}
