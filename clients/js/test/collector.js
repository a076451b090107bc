/** A collector without a network: campaigns by address, and what was posted to them. */
import { createHash } from "node:crypto";

import { Campaign } from "../src/index.js";

const INVITATION = "A".repeat(43);

export class Collector {
  /** @type {Map<string, {about: object, text: string}>} by path */
  #campaigns = new Map();
  /** @type {{invitation: string, report: string, tasks?: number[]}[]} */
  received = [];

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
      design: createHash("sha256").update(text).digest("hex"),
      invitation_required: true,
      closed: false,
      ...changes,
    };
    this.#campaigns.set(id, { about, text });
    return `https://survey.example.org/c/${id}`;
  }

  /**
   * A campaign as a worker opens it.
   * @param {string} link
   * @param {import("../src/campaign.js").Options} options
   */
  open(link, options) {
    const invitation = /[#?]/.test(link) ? undefined : INVITATION;
    return Campaign.open(link, { invitation, network: this.network, ...options });
  }

  /** @type {import("../src/service.js").Network} */
  network = {
    fetch: async (url, options) => {
      const [, id, rest] = /campaigns\/([^/]+)(.*)$/.exec(String(url)) ?? [];
      const campaign = this.#campaigns.get(id);
      if (!campaign) return Response.json({}, { status: 404 });
      if (rest.startsWith("/designs/")) return new Response(campaign.text);
      if (rest === "") return Response.json(campaign.about);
      this.received.push(JSON.parse(String(options?.body)));
      return Response.json({ status: "accepted" }, { status: 201 });
    },
    wait: async () => {},
  };
}
