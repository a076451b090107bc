/** A collector without a network: campaigns by address, and what was posted to them. */
import { constants, createHash, generateKeyPairSync, privateDecrypt } from "node:crypto";

import { Campaign } from "../src/index.js";

const INVITATION = "A".repeat(43);
export const ISSUER = generateKeyPairSync("rsa", { modulusLength: 2048 });

/** @param {string} text */
const digestOf = (text) => createHash("sha256").update(text).digest("hex");

/**
 * A key as a campaign announces it.
 * @param {import("node:crypto").KeyObject} key
 */
export const announcedKey = (key) => {
  const { n, e } = key.export({ format: "jwk" });
  return { scheme: "RSABSSA-SHA384-PSS-Randomized", n, e };
};

export class Collector {
  /** @type {Map<string, {about: object, text: string}>} by path */
  #campaigns = new Map();
  /** @type {{invitation: string, report: string, tasks?: number[]}[]} */
  received = [];
  /** @type {{invitation: string, blinded: string}[]} requests for a signature */
  asked = [];
  issuer = ISSUER.privateKey;

  /**
   * A campaign, and its link.
   * @param {string} text of the mechanism
   * @param {readonly string[]} questions
   * @param {Record<string, unknown>} [changes]
   */
  make(text, questions, changes = {}) {
    const { scale, epsilon, protects } = JSON.parse(text);
    const id = String(this.#campaigns.size).padStart(22, "x");
    const tasks = questions.map((question, place) => ({ id: `q${place}`, text: question }));
    const about = {
      title: "A survey",
      tasks,
      scale: { values: scale, labels: scale },
      epsilon,
      protects,
      design: digestOf(text),
      invitation_required: true,
      closed: false,
      ...changes,
    };
    this.#campaigns.set(id, { about, text });
    return `https://survey.example.org/c/${id}`;
  }

  /**
   * An anonymous campaign, and its link; the document can be changed after its digest was taken.
   * @param {string} text of the mechanism
   * @param {readonly string[]} questions
   * @param {Record<string, unknown>} [changes]
   */
  makeAnonymous(text, questions, changes = {}) {
    const link = this.make(text, questions);
    const id = link.slice(link.lastIndexOf("/") + 1);
    const campaign = /** @type {any} */ (this.#campaigns.get(id));
    const { title, tasks, scale, epsilon, protects, design } = campaign.about;
    const issuing_key = announcedKey(ISSUER.publicKey);
    const unit = JSON.parse(text).kind === "sampled-tasks" ? "worker" : "cell";
    const asked = { title, tasks, scale, epsilon, unit, protects, design, invitation_required: true };
    const document = JSON.stringify({ ...asked, id, batch: 20, issuing_key });
    const served = JSON.stringify({ ...JSON.parse(document), ...changes });
    campaign.about.anonymous = { digest: digestOf(document), document: served };
    return `${link}?d=${digestOf(document)}`;
  }

  /**
   * A campaign as a worker opens it.
   * @param {string} link
   * @param {import("../src/campaign.js").Options} options
   */
  open(link, options) {
    const invitation = /#|[?](?!d=)/.test(link) ? undefined : INVITATION;
    return Campaign.open(link, { invitation, network: this.network, ...options });
  }

  /** @param {unknown} body */
  #sign(body) {
    const asked = JSON.parse(String(body));
    this.asked.push(asked);
    const how = { key: this.issuer, padding: constants.RSA_NO_PADDING };
    return privateDecrypt(how, Buffer.from(asked.blinded, "base64")).toString("base64");
  }

  /** @type {import("../src/service.js").Network} */
  network = {
    fetch: async (url, options) => {
      const [, id, rest] = /campaigns\/([^/]+)(.*)$/.exec(String(url)) ?? [];
      const campaign = this.#campaigns.get(id);
      if (!campaign) return Response.json({}, { status: 404 });
      if (rest.startsWith("/designs/")) return new Response(campaign.text);
      if (rest === "") return Response.json(campaign.about);
      if (rest === "/signatures") return Response.json({ signature: this.#sign(options?.body) });
      this.received.push(JSON.parse(String(options?.body)));
      return Response.json({ status: "accepted" }, { status: 201 });
    },
    wait: async () => {},
  };
}
