/** The browser's single file is what the sources give, and it works. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { TARGET, bundle, integrity } from "../build.mjs";
import * as source from "../src/index.js";
import { vectorText } from "./mechanisms.js";

test("it is up to date (else: npm run build)", () => {
  assert.equal(integrity(readFileSync(TARGET, "utf8")), integrity(bundle()));
});

test("it offers the same names, and they work together", async () => {
  const built = await import(`data:text/javascript,${encodeURIComponent(bundle())}`);
  assert.deepEqual(Object.keys(built).sort(), Object.keys(source).sort());
  for (const [name, bytes] of Object.entries({ rr: 1, lp: 16, "mf-safe": 256 })) {
    const mechanism = built.readMechanism(vectorText(name));
    const report = await built.makeReport(mechanism, ["a", "b"], {}, built.secureCoins, "w");
    assert.equal(report.bytes.length, bytes);
  }
});
