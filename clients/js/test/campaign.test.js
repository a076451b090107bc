/** A worker's whole way, against a small service that speaks the wire contract. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { afterEach, beforeEach, test } from "node:test";

import { sampledTasks } from "../src/assignment.js";
import { Campaign, ForsoothError, memoryStore } from "../src/index.js";
import { vectorText } from "./mechanisms.js";

const INVITATION = "A".repeat(43);
const OTHER = "B".repeat(43);
const ANSWERS = { q1: "always", q3: "never" };

/** What the service says and does, to be changed by a test. */
let campaign = /** @type {Record<string, any>} */ ({});
let designs = /** @type {Map<string, string>} */ (new Map());
let requests = /** @type {{path: string, body: string}[]} */ ([]);
let accepted = /** @type {Map<string, string>} */ (new Map());
let faults = /** @type {("drop" | "busy" | "limit" | "redirect")[]} */ ([]);
let waits = /** @type {number[]} */ ([]);
let standing = ""; // of the invitation, if the service can be asked
let url = "";

const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const path = request.url ?? "";
  requests.push({ path, body });
  const design = /\/designs\/(.*)$/.exec(path)?.[1];
  if (path.endsWith("/check")) {
    return standing ? reply(200, { invitation: standing }) : reply(404, {});
  }
  if (request.method === "POST") {
    const [status, answer] = post(body);
    const fault = faults.shift();
    if (fault === "drop") return void response.destroy(); // committed, but the answer is lost
    if (fault === "busy") return reply(503, {}, { "Retry-After": "7" });
    if (fault === "limit") return reply(429, {});
    if (fault === "redirect") return reply(307, {}, { Location: "/elsewhere" });
    return reply(status, answer);
  }
  if (design === undefined) return reply(200, campaign);
  const text = designs.get(design);
  if (text === undefined) return reply(404, complain("unknown-design", "there is no such design"));
  return void response.end(text);

  /**
   * @param {number} status
   * @param {object} answer
   * @param {Record<string, string>} [headers]
   */
  function reply(status, answer, headers = {}) {
    response.writeHead(status, headers).end(JSON.stringify(answer));
  }
});

/**
 * @param {string} error
 * @param {string} message
 */
function complain(error, message) {
  return { detail: { error, message } };
}

/**
 * @param {string} body
 * @returns {[number, object]}
 */
function post(body) {
  const { invitation } = JSON.parse(body);
  const before = accepted.get(invitation);
  if (before === undefined) accepted.set(invitation, body);
  else if (before !== body)
    return [409, complain("already-reported", "this invitation has reported")];
  return before === undefined
    ? [201, { status: "accepted" }]
    : [200, { status: "already-accepted" }];
}

/** @param {string} text */
function publish(text) {
  campaign.design = createHash("sha256").update(text).digest("hex");
  designs.set(campaign.design, text);
  const { scale, epsilon, protects } = JSON.parse(text);
  Object.assign(campaign, { scale: { values: scale, labels: scale }, epsilon, protects });
}

/** @param {import("../src/campaign.js").Options} [options] */
function open(options) {
  const network = { fetch, wait: async (/** @type {number} */ seconds) => waits.push(seconds) };
  return Campaign.open(url, { invitation: INVITATION, store: memoryStore(), network, ...options });
}

const posts = () => requests.filter(({ body }) => body !== "").map(({ body }) => body);

beforeEach(async () => {
  [designs, accepted, requests, faults, waits] = [new Map(), new Map(), [], [], []];
  standing = "";
  campaign = {
    id: "c1",
    title: "A survey",
    description: "",
    tasks: ["q1", "q2", "q3"].map((id) => ({ id, text: `Text of ${id}`, image: null })),
    invitation_required: true,
    closed: false,
    client: { integrity: "sha384-x" },
  };
  publish(vectorText("rr"));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  url = `http://127.0.0.1:${port}/c/c1`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/**
 * The three symbols of a report, read another way than they were written.
 * @param {Buffer} bytes
 */
function threeBitSymbols(bytes) {
  const number = bytes.readUintLE(0, bytes.length);
  return [number & 7, (number >> 3) & 7, number >> 6];
}

test("open, prepare, send: only the report leaves", async () => {
  const store = memoryStore();
  const opened = await open({ store, limit: 1 });
  assert.equal(opened.title, "A survey");
  assert.equal(opened.verification.total, 3);
  assert.equal(opened.state, "open");
  const { rows, body } = await opened.prepare(ANSWERS);
  assert.deepEqual(
    rows.map((row) => row.answer),
    ["always", null, "never"],
  );
  for (const { sent } of rows) {
    assert(sent);
    assert.equal(sent.reads, sent.value === 5 ? null : sent.value);
    assert.equal(sent.label, opened.scale.values[Number(sent.value)] ?? null);
  }
  assert.equal(requests.length, 2, "nothing is sent before send()");
  assert.deepEqual(await opened.send(), { status: "accepted" });
  assert.deepEqual(posts(), [body]);
  const sent = JSON.parse(body);
  assert.deepEqual(Object.keys(sent), ["invitation", "design", "report"]);
  assert.deepEqual(
    threeBitSymbols(Buffer.from(sent.report, "base64")),
    rows.map((row) => row.sent?.value),
  );
  const everything = requests.map((request) => request.path + request.body).join();
  assert(!/always|never|q[13]"/.test(everything)); // base64 may hold q1, but ends in =
  assert.equal(opened.state, "accepted");
});

test("the report is kept before it is sent, without the answers, and comes back for ever", async () => {
  /** @type {string[]} */
  const kept = [];
  const memory = memoryStore();
  const store = {
    ...memory,
    /** @type {typeof memory.update} */
    async update(change) {
      const text = await memory.update(change);
      if (posts().length === 0) kept.push(text);
      return text;
    },
  };
  const first = await open({ store });
  const { body } = await first.prepare(ANSWERS);
  faults = new Array(6).fill("busy");
  await assert.rejects(first.send(), { code: "unreachable" });
  const atLast = JSON.parse(kept[kept.length - 1]);
  assert.equal(Object.values(atLast.campaigns)[0].body, body);
  assert.deepEqual(atLast.coins, {}, "the coins are forgotten before the report is sent");
  assert(kept.every((text) => !/always|never|q1\\?"/.test(text)));

  const again = await open({ store });
  assert.equal(again.state, "kept");
  await assert.rejects(again.prepare({ q2: "often" }), { code: "answered" });
  assert.deepEqual(await again.send(), { status: "already-accepted" });
  assert.deepEqual(new Set(posts()), new Set([body]));
  assert.equal((await open({ store })).state, "accepted");
  await assert.rejects(open({ store, invitation: OTHER }), { code: "answered" });
});

test("the same bytes again, until the service has answered", async () => {
  faults = ["drop", "busy", "limit"];
  const opened = await open();
  await opened.prepare(ANSWERS);
  assert.deepEqual(await opened.send(), { status: "already-accepted" });
  assert.equal(posts().length, 4);
  assert.equal(new Set(posts()).size, 1);
  assert.deepEqual(waits, [1, 7, 4]);
  assert.equal(accepted.size, 1);
});

test("a report is not carried to another address", async () => {
  faults = new Array(6).fill("redirect");
  const opened = await open();
  await opened.prepare(ANSWERS);
  await assert.rejects(opened.send(), { code: "unreachable" });
  assert(!requests.some(({ path }) => path === "/elsewhere"));
});

test("what the service refuses is said in its words", async () => {
  accepted.set(INVITATION, "another report");
  const opened = await open();
  await opened.prepare(ANSWERS);
  await assert.rejects(opened.send(), {
    code: "already-reported",
    message: "this invitation has reported",
  });
  assert.equal(posts().length, 1);
});

test("correcting an answer tosses no new coins", async () => {
  const opened = await open();
  const first = await opened.prepare(ANSWERS);
  const both = [opened.prepare({ ...ANSWERS, q2: "often" }), opened.prepare(ANSWERS)];
  assert.deepEqual((await Promise.all(both))[1], first);
});

test("two clicks: one request", async () => {
  const opened = await open();
  await opened.prepare(ANSWERS);
  const receipts = await Promise.all([opened.send(), opened.send()]);
  assert.deepEqual(receipts, [{ status: "accepted" }, { status: "accepted" }]);
  assert.equal(posts().length, 1);
});

test("two windows: one report", async () => {
  const store = memoryStore();
  const [one, two] = [await open({ store }), await open({ store })];
  await one.prepare(ANSWERS);
  await two.prepare(ANSWERS);
  await one.send();
  await assert.rejects(two.send(), { code: "answered" });
  assert.equal(posts().length, 1);
});

test("a campaign that comes back with other tasks or another mechanism", async () => {
  const store = memoryStore();
  const opened = await open({ store });
  await opened.prepare(ANSWERS);
  faults = new Array(6).fill("busy");
  await assert.rejects(opened.send());
  const first = campaign.design;

  publish(vectorText("lp")); // an adaptive campaign moves on; the former design is still known
  const again = await open({ store });
  assert.equal(again.verification.mechanism, "rr");
  assert.equal(JSON.parse(posts()[0]).design, first);

  const former = /** @type {string} */ (designs.get(first));
  designs.delete(first);
  await assert.rejects(open({ store }), /another mechanism or other tasks/);
  designs.set(first, former);
  campaign.tasks.reverse();
  await assert.rejects(open({ store }), /another mechanism or other tasks/);
});

test("participation public: the answered tasks are listed", async () => {
  publish(vectorText("grr"));
  const opened = await open({ protects: "answers" });
  assert.equal(opened.verification.participation, Infinity);
  const { rows, body } = await opened.prepare({ q2: 7 });
  assert.deepEqual(JSON.parse(body).tasks, [1]);
  assert.deepEqual(
    rows.map((row) => row.sent === null),
    [true, false, true],
  );
});

test("a sketch has no value for a single task", async () => {
  publish(vectorText("mf-safe"));
  const { rows, body } = await (await open()).prepare({ q2: 7 });
  assert.deepEqual(
    rows.map((row) => row.sent),
    [null, null, null],
  );
  assert.equal(Buffer.from(JSON.parse(body).report, "base64").length, 2 * 16 * 8);
});

test("an open link: the client makes a token, and keeps it", async () => {
  campaign.invitation_required = false;
  const store = memoryStore();
  const opened = await open({ invitation: undefined, store });
  const { body } = await opened.prepare({});
  const { invitation } = JSON.parse(body);
  assert.match(invitation, /^open-[A-Za-z0-9_-]{43}$/);
  await opened.send();
  const again = await open({ invitation: undefined, store });
  assert.deepEqual(await again.send(), { status: "already-accepted" });
  const { body: other } = await (await open({ invitation: undefined })).prepare({});
  assert.notEqual(JSON.parse(other).invitation, invitation);
});

test("the invitation may stand in the address", async () => {
  url += `#${OTHER}`;
  const { body } = await (await open({ invitation: undefined })).prepare({});
  assert.equal(JSON.parse(body).invitation, OTHER);
  assert(!requests.some(({ path }) => path.includes(OTHER)));
});

for (const [name, change, reason] of /** @type {[string, () => unknown, RegExp][]} */ ([
  [
    "a smaller promise than the table keeps",
    () => (campaign.epsilon = 0.5),
    /the campaign promises ε = 0\.5/,
  ],
  [
    "a table that breaks its promise",
    () => publish(vectorText("rr").replace('"epsilon":1,', '"epsilon":0.9,')),
    /the mechanism promises ε = 0\.9/,
  ],
  [
    "another text than the one named",
    () => designs.set(campaign.design, vectorText("rr-ten")),
    /its SHA-256 differs/,
  ],
  [
    "another scale than the one shown",
    () => campaign.scale.values.reverse(),
    /made for another scale/,
  ],
  [
    "less protection than promised",
    () => (publish(vectorText("grr")), (campaign.protects = "answers+participation")),
    /promises to protect answers\+participation/,
  ],
  [
    "a mechanism that cannot be verified",
    () => publish(vectorText("rr").replace("channel", "matrix-factorization")),
    /cannot verify the mechanism mf/,
  ],
  ["a design that is no fingerprint", () => (campaign.design = "../../x"), /no SHA-256/],
  ["two tasks of one name", () => (campaign.tasks[1].id = "q1"), /stands twice/],
  ["no tasks", () => (campaign.tasks = []), /has no tasks/],
  ["no invitation", () => (url += "#"), /needs an invitation/],
  ["half an invitation", () => (url += "#abc"), /needs an invitation/],
  [
    "an invitation to an open campaign",
    () => (campaign.invitation_required = false),
    /not the campaign's link/,
  ],
  ["another page", () => (url = url.replace("/c/c1", "/about")), /not the address of a campaign/],
])) {
  test(`refused: ${name}`, async () => {
    change();
    await assert.rejects(
      open({ invitation: undefined, ...(url.includes("#") ? {} : { invitation: INVITATION }) }),
      (error) => {
        assert(error instanceof ForsoothError);
        assert.match(error.message, reason);
        return true;
      },
    );
    assert.equal(posts().length, 0);
  });
}

test("the worker's own limit", async () => {
  await assert.rejects(open({ limit: 0.9 }), /your own limit is ε = 0\.9/);
});

test("a closed campaign takes no answers", async () => {
  campaign.closed = true;
  const opened = await open();
  assert(opened.closed);
  await assert.rejects(opened.prepare(ANSWERS), { code: "closed" });
  await assert.rejects(opened.send(), /prepare a report/);
});

test("what stands in the way is known before anything is answered", async () => {
  assert.equal(await (await open()).obstacle(), null); // a service that cannot be asked
  for (const state of ["draft", "paused", "closed"]) {
    campaign.state = state;
    assert.equal(await (await open()).obstacle(), state);
  }
  campaign.state = "open";
  const words = { used: "already-reported", unknown: "unknown-invitation", unused: null };
  for (const [word, obstacle] of Object.entries(words)) {
    standing = word;
    assert.equal(await (await open()).obstacle(), obstacle);
  }
  const hash = createHash("sha256").update(INVITATION).digest("hex");
  assert.deepEqual(new Set(posts()), new Set([JSON.stringify({ hash })]));
  assert(requests.every(({ path, body }) => !(path + body).includes(INVITATION)));
});

test("without a store nothing can be sent", async () => {
  await assert.rejects(open({ store: undefined }), { code: "storage" });
});

test("with unit = worker only the drawn tasks are asked and sent", async () => {
  campaign.tasks = Array.from({ length: 23 }, (_, q) => ({ id: `q${q}`, text: "?", image: null }));
  publish(vectorText("sampled"));
  await assert.rejects(open(), /promises ε per cell, its mechanism gives ε per worker/);
  campaign.unit = "worker";
  await assert.rejects(open({ totalLimit: 1 }), /for everything you say is ε = 1/);
  const opened = await open({ totalLimit: 2 });
  const worker = createHash("sha256").update(INVITATION).digest("hex");
  const places = await sampledTasks(11n, worker, 23, 5);
  assert.deepEqual(
    opened.asked.map((task) => task.id),
    places.map((place) => `q${place}`),
  );
  const all = opened.tasks.map((task) => /** @type {const} */ ([task.id, 7]));
  const { rows, body } = await opened.prepare(all);
  assert.deepEqual(
    rows.map(({ task, answer }) => [task.id, answer]),
    places.map((place) => [`q${place}`, "7"]),
  );
  assert.equal(Buffer.from(JSON.parse(body).report, "base64").length, 3); // 5 symbols of 4 bits
  assert.deepEqual(await opened.send(), { status: "accepted" });
});
