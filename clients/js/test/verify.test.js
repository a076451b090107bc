/** A malicious collector's mechanism is refused, with a reason that a person understands. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { ForsoothError, readMechanism, verify } from "../src/index.js";
import { parseJson } from "../src/json.js";
import { TOTAL, tableText, vectorText } from "./mechanisms.js";

const HALF = TOTAL / 2;
const FLAT = new Array(3).fill([HALF, HALF]);

/**
 * @param {() => unknown} act
 * @param {RegExp} reason
 */
function refused(act, reason) {
  assert.throws(act, (error) => error instanceof ForsoothError && reason.test(error.message));
}

test("a table that tells more than it promises", () => {
  const leaky = [
    [HALF, HALF],
    [HALF, HALF],
    [TOTAL - 1000, 1000],
  ];
  refused(
    () => readMechanism(tableText(leaky)),
    /promises ε = 1, but whether you answered is protected with ε = 14\.5.* only: the report 1 is 2150000 times as likely from somebody who answered “no” as from somebody who did not answer/,
  );
  const values = [
    [TOTAL - 1000, 1000],
    [1000, TOTAL - 1000],
    [HALF, HALF],
  ];
  refused(() => readMechanism(tableText(values)), /what you answered is protected with ε = 15\.2/);
});

test("a table with a report that betrays somebody for certain", () => {
  const certain = [
    [0, TOTAL],
    [HALF, HALF],
    [HALF, HALF],
  ];
  refused(() => readMechanism(tableText(certain)), /who answered “no” can never send the report 0/);
});

test("a row that does not sum to 2^32", () => {
  refused(
    () =>
      readMechanism(
        tableText([
          [HALF, HALF],
          [HALF, HALF],
          [HALF, HALF - 1],
        ]),
      ),
    /row 2 .* 4294967295/,
  );
});

test("more than the campaign promised, and more than the worker allows", () => {
  const mechanism = readMechanism(vectorText("rr"));
  const found = verify(mechanism, { tasks: 20, promised: 1, limit: 1 });
  assert.equal(found.total, 20);
  assert(found.value <= 1 && found.value > 0.999999);
  assert.equal(found.value, found.participation);
  refused(() => verify(mechanism, { tasks: 20, promised: 0.9 }), /the campaign promises ε = 0\.9/);
  refused(
    () => verify(mechanism, { tasks: 20, promised: 1, limit: 0.5 }),
    /your own limit is ε = 0\.5/,
  );
  for (const promised of [NaN, 0, -1, Infinity, /** @type {any} */ ("1")]) {
    refused(() => verify(mechanism, { tasks: 20, promised }), /ε must be above 0/);
  }
});

test("where participation is public, only the values' ε is promised", () => {
  refused(
    () => verify(readMechanism(vectorText("grr")), { tasks: 5, promised: 1.9, protects: "answers" }),
    /what you answered is protected with ε = /,
  );
  const { value, participation } = verify(readMechanism(vectorText("grr")), {
    protects: "answers",
    tasks: 5,
    promised: 2,
  });
  assert(value <= 2);
  assert.equal(participation, Infinity);
});

test("noise made for a smaller range", () => {
  const text = vectorText("lp").replace(/"sensitivity":\d+/, '"sensitivity":1024');
  refused(
    () => readMechanism(text),
    /does not keep its promise: two answers lie 4096 grid steps apart/,
  );
});

test("one ε for everything a worker says: the unit, the whole and the limits are checked", async () => {
  const mechanism = readMechanism(vectorText("sampled")); // five cells share ε = 2
  const claims = { tasks: 23, promised: 2, unit: "worker" };
  const found = verify(mechanism, { ...claims, limit: 0.4, totalLimit: 2 });
  assert.deepEqual([found.total, found.cells, found.unit], [2, 5, "worker"]);
  assert(found.epsilon <= 0.4 && found.value <= 2 && found.value > 1.999);
  refused(() => verify(mechanism, { ...claims, unit: "cell" }), /promises ε per cell/);
  refused(() => verify(mechanism, { ...claims, promised: 1.9 }), /the campaign promises ε = 1\.9/);
  refused(() => verify(mechanism, { ...claims, limit: 0.3 }), /your own limit is ε = 0\.3/);
  refused(() => verify(mechanism, { ...claims, totalLimit: 1 }), /for everything you say is ε = 1/);
  await assert.rejects(mechanism.eligible(4, "w"), /5 of 4 tasks cannot be sampled/);
  const cellwise = readMechanism(vectorText("rr"));
  refused(
    () => verify(cellwise, { ...claims, promised: 1 }),
    /promises ε per worker, its mechanism gives ε per cell/,
  );
  refused(
    () => verify(cellwise, { tasks: 20, promised: 1, totalLimit: 19 }),
    /this campaign asks for ε = 20/,
  );
});

test("mechanisms that this client cannot verify", () => {
  for (const [kind, name] of [
    ["two-layer", "two-layer"],
    ["matrix-factorization", "mf"],
  ]) {
    refused(
      () => readMechanism(tableText(FLAT, { kind })),
      new RegExp(`cannot verify the mechanism ${name} `),
    );
  }
  for (const kind of ["toString", "__proto__", ""]) {
    refused(() => readMechanism(tableText(FLAT, { kind })), /unknown kind/);
  }
});

test("two equal keys: nobody can say which is meant", () => {
  const text = vectorText("rr");
  refused(
    () => readMechanism(text.replace('"epsilon":1', '"epsilon":1,"epsilon":9')),
    /"epsilon" stands twice/,
  );
  refused(() => readMechanism(text.replace('"name"', '"\\u0065psilon"')), /stands twice/);
});

test("JSON keeps integers, floats and odd keys apart", () => {
  const json = /** @type {Map<string, any>} */ (
    parseJson(
      '{"__proto__": 9007199254740993, "f": 1.0, "s": "\\ud83d\\ude00", "l": [true, null, -0.5e1]}',
    )
  );
  assert.equal(json.get("__proto__"), 9007199254740993n);
  assert.equal(json.get("f"), 1);
  assert.equal(json.get("s"), "😀");
  assert.deepEqual(json.get("l"), [true, null, -5]);
});
