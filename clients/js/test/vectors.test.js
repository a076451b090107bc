/** The same mechanism, inputs and words give the same report as in Python, bit for bit. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { base64 } from "../src/bytes.js";
import { sampledTasks } from "../src/assignment.js";
import { logRatio } from "../src/exact.js";
import { encode, inWords, readMechanism } from "../src/index.js";

const FOLDER = new URL("../vectors/", import.meta.url);

/** @param {string} name */
function load(name) {
  return JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"));
}

/** @param {number[]} words */
function scripted(words) {
  let next = 0;
  return {
    /** @param {number} count */
    words(count) {
      next += count;
      assert(next <= words.length, "the vector has too few words");
      return Uint32Array.from(words.slice(next - count, next));
    },
    left: () => words.length - next,
  };
}

for (const name of readdirSync(FOLDER).filter((file) => file.endsWith(".json"))) {
  test(`draws of ${name}`, async () => {
    const vector = load(name);
    const mechanism = readMechanism(JSON.stringify(vector.mechanism));
    const coins = scripted(vector.words);
    const places = await mechanism.eligible(vector.tasks, vector.worker);
    const codes = places.map((place) => vector.codes[place]);
    const values = await mechanism.randomise(codes, coins, vector.worker);
    assert.deepEqual(values.map(Number), vector.report);
    assert.equal(base64(encode(values, mechanism.bits)), vector.bytes);
    assert.equal(coins.left(), 0);
    const { value, participation } = mechanism.exact;
    assert.deepEqual(
      { value, participation },
      { value: vector.exact.value, participation: vector.exact.participation ?? Infinity },
    );
  });
}

test("mechanisms are accepted and refused as in Python, with the same exact ε", () => {
  for (const { text, exact } of load("verification/verdicts.json")) {
    let found = null;
    try {
      const { value, participation } = readMechanism(text).exact;
      found = { value, participation: Number.isFinite(participation) ? participation : null };
    } catch (error) {
      assert.equal(/** @type {Error} */ (error).name, "ForsoothError", `${error} for ${text}`);
    }
    assert.deepEqual(found, exact, text);
  }
});

test("the same tasks are sampled as in Python", async () => {
  for (const { seed, worker, tasks, count, places } of load("verification/samples.json")) {
    assert.deepEqual(await sampledTasks(BigInt(seed), worker, tasks, count), places);
  }
});

test("guarantees are put into the same words as in Python", () => {
  for (const { words, ...guarantee } of load("verification/promises.json")) {
    assert.deepEqual(inWords(guarantee), words);
  }
});

test("values of every length are packed as in Python", () => {
  for (const { bits, values, bytes } of load("verification/packing.json")) {
    assert.equal(base64(encode(values, bits)), bytes, `${values} in ${bits} bits`);
  }
});

test("logarithms are rounded up as in Python", () => {
  for (const [larger, smaller, log] of load("verification/logs.json")) {
    assert.equal(logRatio(larger, smaller), log, `${larger} / ${smaller}`);
  }
});
