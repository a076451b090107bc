/** What is kept of one person over many campaigns: coins, one draw per question, and what was spent. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { beforeEach, test } from "node:test";

import { Memory } from "../src/memory.js";
import { QUESTION_CAP, TOTAL_CAP, memoryStore } from "../src/index.js";
import { drawOf, questionOf } from "../src/question.js";
import { Collector } from "./collector.js";
import { vectorText } from "./mechanisms.js";

const QUESTIONS = ["Do you smoke?", "Do you drink?", "Do you gamble?"];
const GIVEN = { q0: "always", q1: "never", q2: "often" };
const RR = vectorText("rr");
const WEAKER = RR.replace('"name":"rr"', '"name":"rr "'); // the same table, but another rule

let collector = new Collector();
let store = memoryStore();
beforeEach(() => ([collector, store] = [new Collector(), memoryStore()]));

/**
 * @param {string} link
 * @param {import("../src/campaign.js").Options} [options]
 */
const open = (link, options) => collector.open(link, { store, ...options });

/**
 * @param {string} link
 * @param {import("../src/report.js").Answers} [given]
 */
async function answer(link, given = GIVEN) {
  const campaign = await open(link);
  const { rows } = await campaign.prepare(given);
  await campaign.send();
  return rows;
}

/** @param {readonly import("../src/campaign.js").PreparedRow[]} rows */
const sent = (rows) => rows.map((row) => row.sent?.value);

for (const name of ["rr", "lp", "mf-safe", "sampled", "grr"]) {
  test(`${name}: reloading, another tab and corrected answers toss no new coins`, async () => {
    const text = vectorText(name);
    const unit = name === "sampled" ? { unit: "worker" } : {};
    const many = Array.from({ length: 40 }, (_, place) => `Question ${place}?`);
    const link = collector.make(text, many, unit);
    const { scale } = JSON.parse(text);
    const given = Object.fromEntries(many.map((_, place) => [`q${place}`, scale[place % 2]]));
    const options = { protects: /** @type {const} */ ("answers"), cap: Infinity };
    const first = await open(link, options);
    const { body } = await first.prepare(given);
    await first.prepare({ ...given, q3: null, q7: scale[1] });
    assert.equal((await first.prepare(given)).body, body);
    const tabs = [await open(link, options), await open(link, options)];
    for (const tab of tabs) assert.equal((await tab.prepare(given)).body, body);
  });
}

test("with public participation, an answer to one task does not move what is sent for another", async () => {
  const link = collector.make(vectorText("grr"), QUESTIONS);
  for (let trial = 0; trial < 20; trial++) {
    store = memoryStore();
    const campaign = await open(link, { protects: "answers" });
    const alone = await campaign.prepare({ q1: 3 });
    const beside = await campaign.prepare({ q0: 9, q1: 3 });
    assert.deepEqual(beside.rows[1].sent, alone.rows[1].sent);
  }
});

test("an open link's token survives a reload, and what stands after # does not change it", async () => {
  const link = collector.make(RR, QUESTIONS, { invitation_required: false });
  const bodies = [];
  for (const fragment of ["", `#open-${"B".repeat(43)}`, "", `#open-${"C".repeat(43)}`]) {
    const campaign = await open(link + fragment, { invitation: undefined });
    bodies.push((await campaign.prepare(GIVEN)).body);
  }
  assert.equal(new Set(bodies).size, 1);
});

test("a clone gets the value that was sent before, whatever the answer is now", async () => {
  const first = await answer(collector.make(RR, QUESTIONS));
  assert(first.every((row) => !row.repeated));
  for (const words of [QUESTIONS, QUESTIONS.map((question) => ` ${question.toUpperCase()}\n`)]) {
    const clone = await open(collector.make(RR, words));
    assert.deepEqual(
      clone.repeated.map((task) => task.id),
      ["q0", "q1", "q2"],
    );
    assert.equal(clone.spending.after, clone.spending.before);
    const { rows } = await clone.prepare({ q0: "never", q2: "never" });
    assert(rows.every((row) => row.repeated));
    assert.deepEqual(sent(rows), sent(first));
    await clone.send();
  }
  const reports = collector.received.map(({ report }) => report);
  assert.equal(reports.length, 3);
  assert.equal(new Set(reports).size, 1);
});

test("equal questions of one campaign are drawn apart, and a clone gets all of them again", async () => {
  const many = new Array(40).fill("Do you smoke?");
  const given = Object.fromEntries(many.map((_, place) => [`q${place}`, "always"]));
  const first = await answer(collector.make(RR, many), given);
  assert(new Set(sent(first)).size > 1, "P < 1e-9");
  assert.deepEqual(sent(await answer(collector.make(RR, many), given)), sent(first));
});

test("other words, another picture and another scale are another question", async () => {
  const task = { id: "q", text: "Do you smoke?", image: null };
  const names = await Promise.all([
    questionOf(task),
    questionOf({ ...task, text: "Do you drink?" }),
    questionOf({ ...task, image: "https://images.example.org/1" }),
  ]);
  assert.equal(new Set(names).size, 3);
  const draws = [drawOf(RR, ["no", "yes"]), drawOf(RR, ["yes", "no"]), drawOf(WEAKER, ["no", "yes"])];
  assert.equal(new Set(await Promise.all(draws)).size, 3);
});

test("a question is not asked again under another rule beyond the cap", async () => {
  await answer(collector.make(RR, QUESTIONS));
  const other = collector.make(WEAKER, ["Something new?", QUESTIONS[1]]);
  await assert.rejects(open(other), {
    code: "repeated",
    message: /“Do you drink\?” before, under another rule \(ε = 1\).* ε = 2, .* is 1\.09$/,
  });
  assert.equal(collector.received.length, 1);
  await open(other, { questionCap: 2, cap: 5 });
});

test("where participation is public, the question can be left out", async () => {
  await answer(collector.make(RR, QUESTIONS));
  const text = vectorText("rr").replace('"answers+participation"', '"answers"');
  const { parameters } = JSON.parse(text);
  parameters.weights.pop();
  const publicly = JSON.stringify({ ...JSON.parse(text), parameters });
  const link = collector.make(publicly, [QUESTIONS[0], "Something new?"]);
  const campaign = await open(link, { protects: "answers" });
  await assert.rejects(campaign.prepare({ q0: "never", q1: "never" }), { code: "repeated" });
  await campaign.prepare({ q1: "never" });
});

test("the first campaign may be as weak as it says; a second one may not exceed the cap", async () => {
  const weak = vectorText("grr").replace('"epsilon":2', '"epsilon":8');
  const link = collector.make(weak, QUESTIONS);
  const campaign = await open(link, { protects: "answers" });
  await campaign.prepare({ q0: 1, q1: 1, q2: 1 });
  await campaign.send();
  const second = collector.make(RR, ["Something new?"]);
  await assert.rejects(open(second), { code: "spent", message: /ε = 24 in all.* 25, .* is 6\.9$/ });
  assert.deepEqual((await open(second, { cap: 25 })).spending, { before: 24, after: 25 });
  await assert.rejects(open(second, { cap: 24.9 }), { code: "spent" });
});

test("a cap that is named holds for the first campaign too", async () => {
  const link = collector.make(RR, QUESTIONS);
  await assert.rejects(open(link, { cap: 2.9 }), { code: "spent" });
  await assert.rejects(open(link, { questionCap: 0.9 }), { code: "repeated" });
  await open(link, { cap: 3, questionCap: 1 });
});

test("two clones in two tabs: the second has to look again", async () => {
  const lp = vectorText("lp"); // with the same coins another answer always gives another value
  const [one, two] = [collector.make(lp, QUESTIONS), collector.make(lp, QUESTIONS)];
  const [first, second] = [await open(one), await open(two)];
  const { rows } = await first.prepare(GIVEN);
  await second.prepare({ ...GIVEN, q1: "always" });
  await first.send();
  await assert.rejects(second.send(), { code: "changed" });
  assert.equal(collector.received.length, 1);
  assert.deepEqual(sent((await second.prepare(GIVEN)).rows), sent(rows));
  await second.send();
});

test("a campaign whose report is gone is refused", async () => {
  const link = collector.make(RR, QUESTIONS);
  await answer(link);
  await store.update((text) => (text ?? "").replace(/"body":"(?:[^"\\]|\\.)*"/, '"body":null'));
  await assert.rejects(open(link), { code: "answered", message: /no longer has the report/ });
});

test("addresses that mean the same campaign", async () => {
  const link = collector.make(RR, QUESTIONS);
  await answer(link);
  for (const same of [
    link.replace("example.org", "EXAMPLE.org."),
    link.replace("example.org", "example.org:443"),
    `${link}/?from=mail`,
    link.replace("/c/", "/v1/campaigns/"),
  ]) {
    assert.equal((await open(same)).state, "accepted");
  }
});

test("less protection than usual is refused unless it is agreed to", async () => {
  const link = collector.make(vectorText("grr"), QUESTIONS);
  await assert.rejects(open(link, { limit: 2 }), { code: "weaker", message: /protects answers only/ });
  await open(link, { limit: 2, protects: "answers" });
});

test("a text that is no memory is refused, and nothing is written over it", async () => {
  const link = collector.make(RR, QUESTIONS);
  for (const text of ["", "[]", '{"forsooth":2}', '{"forsooth":1,"drawn":{"a":{"b":{}}}}']) {
    await store.update(() => text);
    await assert.rejects(open(link), { name: "ForsoothError" });
    assert.equal(await store.read(), text);
  }
});

test("questions, draws and sums are Python's", async () => {
  const file = new URL("../vectors/verification/memory.json", import.meta.url);
  const { caps, questions, draws, ledgers } = JSON.parse(readFileSync(file, "utf8"));
  for (const { text, image, question } of questions)
    assert.equal(await questionOf({ id: "", text, image }), question);
  for (const { rule, labels, draw } of draws) assert.equal(await drawOf(rule, labels), draw);
  for (const { spends, caps: named, refused, after } of ledgers) {
    const memory = new Memory();
    const found = spends.map((/** @type {any[]} */ cells) => {
      try {
        memory.spend(cells.map((cell) => ({ place: 0, text: "?", coins: "", ...cell })), named);
        return null;
      } catch (error) {
        return /** @type {any} */ (error).code;
      }
    });
    assert.deepEqual(found, refused);
    assert.equal(memory.spending([]).before, after);
  }
  assert.deepEqual([QUESTION_CAP, TOTAL_CAP], caps);
});
