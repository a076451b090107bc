/** Input is checked before a coin is tossed; a report's shape says nothing about the answers. */
import assert from "node:assert/strict";
import { createCipheriv } from "node:crypto";
import { test } from "node:test";

import { drawWith, newSeed, secureWords } from "../src/coins.js";
import { makeReport, readMechanism, secureCoins } from "../src/index.js";
import { vectorText } from "./mechanisms.js";

const TASKS = ["a", "b", "__proto__"];
const untouched = {
  words() {
    throw new Error("a coin was tossed");
  },
};

for (const [name, answers, reason] of /** @type {[string, any, RegExp][]} */ ([
  ["an unknown task", { d: "never" }, /task "d" is not in this campaign/],
  ["a task of every object", { toString: "never" }, /"toString" is not in this campaign/],
  [
    "an answer off the scale",
    { a: "Never" },
    /task "a": "Never" is not on the scale never, rarely/,
  ],
  ["a code", { a: 0 }, /is not on the scale/],
  ["NaN", { a: NaN }, /NaN is not on the scale/],
  ["undefined", { a: undefined }, /undefined is not on the scale/],
  ["nothing", { a: "" }, /is not on the scale/],
  ["a list", { a: ["never"] }, /is not on the scale/],
  [
    "a task twice",
    [
      ["a", "never"],
      ["a", "never"],
    ],
    /task "a" is answered twice/,
  ],
  [
    "a task twice, once skipped",
    [
      ["a", null],
      ["a", "never"],
    ],
    /twice/,
  ],
  ["no answers at all", null, /answers are an object/],
  ["a text", "never", /answers are an object/],
])) {
  test(`refused: ${name}`, async () => {
    const mechanism = readMechanism(vectorText("rr"));
    await assert.rejects(makeReport(mechanism, TASKS, answers, untouched, "w"), reason);
  });
}

test("numbers stand for the labels of a numeric scale", async () => {
  const mechanism = readMechanism(vectorText("two-step")); // -1.5, 0, 2, 100
  const given = { a: -1.5, b: "100" };
  const { codes } = await makeReport(mechanism, TASKS, given, secureCoins, "w");
  assert.deepEqual(codes, [0, 3, 4]);
  for (const answer of [1, Infinity, "2.0", 99]) {
    await assert.rejects(
      makeReport(mechanism, TASKS, { a: answer }, untouched, "w"),
      /not on the scale/,
    );
  }
});

for (const [name, bytes] of /** @type {[string, number][]} */ ([
  ["rr-binary", 1],
  ["rr", 2],
  ["wide", 4],
  ["lp", 24],
  ["mf-safe", 256],
])) {
  test(`${name}: the length does not depend on the answers`, async () => {
    const mechanism = readMechanism(vectorText(name));
    const [label] = mechanism.scale.labels;
    /** @type {[string, string | null][][]} */
    const all = [
      [],
      [["b", label]],
      [
        ["a", label],
        ["__proto__", label],
      ],
      [["a", null]],
    ];
    for (const answers of all) {
      const report = await makeReport(mechanism, TASKS, answers, secureCoins, "w");
      assert.equal(report.bytes.length, bytes);
      assert.equal(report.answered, null);
    }
  });
}

test("where participation is public, one value per answered task", async () => {
  const mechanism = readMechanism(vectorText("grr"));
  const given = new Map([
    ["__proto__", 3],
    ["a", 9],
  ]);
  const report = await makeReport(mechanism, TASKS, given, secureCoins, "w");
  assert.deepEqual(report.answered, [0, 2]);
  assert.equal(report.bytes.length, 1); // two symbols of four bits
  await assert.rejects(
    makeReport(mechanism, TASKS, { a: null }, untouched, "w"),
    /nothing was answered/,
  );
});

test("noise that would not fit is refused", async () => {
  const text = vectorText("lp").replace('"epsilon":1,', '"epsilon":1e-300,');
  await assert.rejects(
    makeReport(readMechanism(text), TASKS, {}, untouched, "w"),
    /ε is too small/,
  );
});

test("coins: more than one call gives, and all of them tossed", () => {
  const words = secureWords(100_001);
  assert.equal(words.length, 100_001);
  const zeros = words.filter((word) => word === 0).length;
  assert(zeros < 5, `${zeros} zeros: P < 1e-20`);
});

test("the coins of a seed fall as before, however many are asked for", async () => {
  const seed = newSeed();
  const first = await drawWith(seed, async ({ words }) => [...words(3), ...words(2)]);
  const again = await drawWith(seed, async ({ words }) => [...words(5)]);
  const many = await drawWith(seed, async ({ words }) => [...words(400), ...words(600)]);
  assert.deepEqual(again, first);
  assert.deepEqual(many.slice(0, 5), first);
  assert(new Set(many).size > 990, "equal words: P < 1e-20");
  const other = await drawWith(newSeed(), async ({ words }) => [...words(5)]);
  assert.notDeepEqual(other, first);
});

test("the coins of a seed are AES-256 in counter mode", async () => {
  const [word] = await drawWith(new Uint8Array(32), async ({ words }) => [...words(1)]);
  const cipher = createCipheriv("aes-256-ctr", Buffer.alloc(32), Buffer.alloc(16));
  assert.equal(word, cipher.update(Buffer.alloc(4)).readUint32LE());
});

test("where participation is public, what is sent for a task does not hang on the others", async () => {
  const mechanism = readMechanism(vectorText("grr"));
  const fixed = { words: (/** @type {number} */ count) => secureWords(count).map((_, i) => i * 1e9) };
  const alone = await makeReport(mechanism, TASKS, { b: 3 }, fixed, "w");
  const beside = await makeReport(mechanism, TASKS, { a: 9, b: 3 }, fixed, "w");
  assert.equal(beside.values.length, 2);
  assert.equal(alone.values[0], beside.values[1]);
});

test("a symbol stands for the answers that send it most often", () => {
  const likeliest = (/** @type {string} */ name) => {
    const mechanism = readMechanism(vectorText(name));
    return [0, 1, 2].map((symbol) => mechanism.likeliest(symbol));
  };
  assert.deepEqual(likeliest("rr"), [["never"], ["rarely"], ["sometimes"]]);
  const [low, high, skipped] = likeliest("staircase");
  assert.deepEqual([low, high], ["01234", "56789"].map((digits) => digits.split("")));
  assert.deepEqual(skipped, [null]);
  assert.deepEqual(likeliest("lp"), [null, null, null]);
});
