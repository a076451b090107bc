/** What build.mjs makes is up to date, and the browser's single file works. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { built } from "../build.mjs";
import { withDigests } from "../build/published.mjs";
import * as source from "../src/index.js";
import { vectorText } from "./mechanisms.js";

const all = built();
const client = [...all].find(([url]) => url.endsWith("/forsooth-client.js"))?.[1] ?? "";

for (const [url, text] of all) {
  test(`${url.split("/").at(-1)} is up to date (else: npm run build)`, () => {
    assert.ok(readFileSync(new URL(url), "utf8") === text);
  });
}

test("only the newest release gets the digest of now", () => {
  const text = (/** @type {string} */ digest) => `# C\n## 2\nD: \`${digest}\`\n## 1\nD: \`aa\`\n`;
  assert.equal(withDigests(text("bb"), { D: "cc" }, "C"), text("cc"));
  assert.throws(() => withDigests("# C\n## 2\n## 1\nD: `aa`\n", { D: "cc" }, "C"), /needs "D: /);
});

test("it offers the same names, and they work together", async () => {
  const built = await import(`data:text/javascript,${encodeURIComponent(client)}`);
  assert.deepEqual(Object.keys(built).sort(), Object.keys(source).sort());
  for (const [name, bytes] of Object.entries({ rr: 1, lp: 16, "mf-safe": 256 })) {
    const mechanism = built.readMechanism(vectorText(name));
    const report = await built.makeReport(mechanism, ["a", "b"], {}, built.secureCoins, "w");
    assert.equal(report.bytes.length, bytes);
  }
});
