/** Anonymous campaigns as a worker's device sees them. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { beforeEach, test } from "node:test";

import { memoryStore } from "../src/index.js";
import { Collector, ISSUER, announcedKey } from "./collector.js";
import { vectorText } from "./mechanisms.js";

const RR = vectorText("rr");
const QUESTIONS = ["Do you smoke?", "Do you drink?"];
const OTHER = generateKeyPairSync("rsa", { modulusLength: 2048 });
const NONE = { protects: /** @type {const} */ ("answers"), cap: Infinity };

let collector = new Collector();
let store = memoryStore();
beforeEach(() => ([collector, store] = [new Collector(), memoryStore()]));

/** @param {string} link @param {object} [options] */
const open = (link, options) => collector.open(link, { store, ...NONE, ...options });

test("the invitation gets a signature, the report goes with the token", async () => {
  const campaign = await open(collector.makeAnonymous(RR, QUESTIONS), { delay: 0 });
  assert.equal(campaign.anonymous?.batch, 20);
  const { body } = await campaign.prepare({ q0: "often" });
  await campaign.send();
  const [asked, sent] = [collector.asked[0], /** @type {any} */ (collector.received[0])];
  assert.equal(asked.invitation, "A".repeat(43));
  assert.deepEqual({ ...JSON.parse(body), signature: sent.signature }, sent);
  assert.notEqual(sent.invitation, asked.invitation);
  assert.ok(!String(await store.read()).includes(asked.blinded));
});

test("the report waits for its time, also after a reload", async (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: 1_700_000_000_000 });
  const link = collector.makeAnonymous(RR, QUESTIONS);
  const campaign = await open(link, { delay: 10_000 });
  await campaign.prepare({ q0: "often" });
  assert.deepEqual(await campaign.send(), { status: "waiting" });
  assert.equal(campaign.state, "waiting");
  const later = await open(link);
  assert.deepEqual(later.due, campaign.due);
  assert.deepEqual(await later.send(), { status: "waiting" });
  assert.equal(collector.received.length, 0);
  assert.equal(collector.asked.length, 1);
  context.mock.timers.setTime(Number(later.due));
  assert.deepEqual(await later.send(), { status: "accepted" });
  assert.equal((await open(link)).state, "accepted");
  assert.equal(collector.asked.length, 1);
});

test("waiting times are random, from none to the delay", async (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: 1_700_000_000_000 });
  const waits = [];
  for (let worker = 0; worker < 40; worker++) {
    store = memoryStore();
    const campaign = await open(collector.makeAnonymous(RR, QUESTIONS), { delay: 1000 });
    await campaign.prepare({ q0: "often" });
    await campaign.send();
    waits.push((Number(campaign.due) - Date.now()) / 1000);
  }
  assert.ok(Math.min(...waits) >= 0 && Math.max(...waits) <= 1000);
  // Uniform waits miss either with a probability of 2·0.7⁴⁰ < 10⁻⁶.
  assert.ok(Math.min(...waits) < 300 && Math.max(...waits) > 700);
});

test("a lost signature is asked for again with the same message", async () => {
  const link = collector.makeAnonymous(RR, QUESTIONS);
  const { fetch } = collector.network;
  const failing = { ...collector.network, fetch: async (/** @type {any} */ url, /** @type {any} */ options) => {
    const response = await fetch(url, options);
    return String(url).endsWith("/signatures") ? Response.json({}, { status: 503 }) : response;
  } };
  const campaign = await open(link, { network: failing });
  await campaign.prepare({ q0: "often" });
  await assert.rejects(campaign.send(), { code: "unreachable" });
  assert.equal(campaign.state, "kept");
  const again = await open(link, { delay: 0 });
  await again.send();
  assert.equal(new Set(collector.asked.map(({ blinded }) => blinded)).size, 1);
  assert.equal(collector.received.length, 1);
});

/** @type {[string, (link: string) => string, Record<string, unknown>, RegExp][]} */
const LIES = [
  ["another key", (link) => link, { issuing_key: announcedKey(OTHER.publicKey) }, /digest of its/],
  ["another title", (link) => link, { title: "For you alone" }, /digest of its/],
  ["another digest in the link", (link) => link.replace(/.$/, (c) => (c === "0" ? "1" : "0")), {}, /digest of its/],
  ["no digest in the link", (link) => link.split("?")[0], {}, /the link has no/],
];
for (const [name, change, document, reason] of LIES) {
  test(`${name}: refused`, async () => {
    const link = change(collector.makeAnonymous(RR, QUESTIONS, document));
    await assert.rejects(open(link), reason);
    assert.equal(collector.asked.length, 0);
  });
}

test("a campaign that was announced as anonymous cannot be another one", async () => {
  const link = `${collector.make(RR, QUESTIONS)}?d=${"0".repeat(64)}`;
  await assert.rejects(open(link), /its service does not say so/);
});

test("a document of another campaign is refused", async () => {
  const link = collector.makeAnonymous(RR, QUESTIONS);
  const moved = { ...collector.network, fetch: (/** @type {any} */ url, /** @type {any} */ options) =>
    collector.network.fetch(String(url).replace("y".repeat(22), "x".repeat(21) + "0"), options) };
  const other = link.replace(/c\/x+0/, `c/${"y".repeat(22)}`);
  await assert.rejects(open(other, { network: moved }), /document is that of another campaign/);
});

test("a service that signs with another key gets no report", async () => {
  collector.issuer = OTHER.privateKey;
  const campaign = await open(collector.makeAnonymous(RR, QUESTIONS), { delay: 0 });
  await campaign.prepare({ q0: "often" });
  await assert.rejects(campaign.send());
  assert.equal(collector.received.length, 0);
  collector.issuer = ISSUER.privateKey;
  await campaign.send();
  assert.equal(collector.received.length, 1);
});

test("what an anonymous report has is sent in no other, and the other way round", async () => {
  const links = [collector.make(RR, QUESTIONS), collector.makeAnonymous(RR, QUESTIONS)];
  for (const link of [...links, collector.make(RR.replace('"rr"', '"rr "'), QUESTIONS)]) {
    const campaign = await open(link, { delay: 0, questionCap: Infinity });
    assert.equal(campaign.repeated.length, 0);
    await campaign.prepare({ q0: "often" });
    await campaign.send();
  }
  assert.equal((await open(collector.make(RR, QUESTIONS))).repeated.length, 2);
  const memory = JSON.parse(String(await store.read()));
  for (const draws of Object.values(memory.drawn)) assert.equal(Object.keys(draws).length, 3);
});

test("where tasks are sampled, the serial draws them, once", async () => {
  const many = Array.from({ length: 1000 }, (_, place) => `Question ${place}?`);
  const link = collector.makeAnonymous(vectorText("sampled"), many);
  const idsOf = (/** @type {any} */ { asked }) => asked.map((/** @type {any} */ task) => task.id);
  const asked = idsOf(await open(link));
  assert.deepEqual(idsOf(await open(link)), asked); // the same device
  store = memoryStore();
  assert.notDeepEqual(idsOf(await open(link)), asked); // the same invitation on another one
});
