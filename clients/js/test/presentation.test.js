/** How a campaign is presented is read as strictly as the rest. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { hex, sha256 } from "../src/bytes.js";
import { ForsoothError } from "../src/index.js";
import { parseJson } from "../src/json.js";
import { fetchLogo, parsePresentation } from "../src/presentation.js";

const PLAIN = {
  introduction: "",
  consent: "",
  thanks: "",
  logo: null,
  ends: null,
  shuffled: false,
  perPage: null,
};
const DIGEST = "0".repeat(64);

/** @param {object} fields */
const read = (fields) => parsePresentation(parseJson(JSON.stringify(fields)));

test("all of it is optional", () => {
  assert.deepEqual(parsePresentation(undefined), PLAIN);
  assert.deepEqual(read({ consent: "Yes?", per_page: 3, ends: ["a", "b"] }), {
    ...PLAIN,
    consent: "Yes?",
    perPage: 3,
    ends: ["a", "b"],
  });
});

for (const fields of [
  { consent: 1 },
  { shuffled: "yes" },
  { per_page: 0 },
  { per_page: 1.5 },
  { ends: ["one"] },
  { ends: ["one", 2] },
  { logo: { digest: "x", media_type: "image/png" } },
  { logo: { digest: DIGEST, media_type: "image/svg+xml" } },
  { logo: { digest: `${DIGEST}/../..`, media_type: "image/png" } },
]) {
  test(`refused: ${JSON.stringify(fields)}`, () => {
    assert.throws(() => read(fields), ForsoothError);
  });
}

test("the logo is the one that the campaign names", async () => {
  const bytes = new Uint8Array([1, 2, 3]);
  /** @type {string[]} */
  const asked = [];
  const fetch = async (/** @type {any} */ url) => (asked.push(url), new Response(bytes));
  const network = { fetch, wait: async () => {} };
  const logo = { digest: hex(await sha256(bytes)), type: "image/png" };
  assert.equal(await fetchLogo(network, "http://x", logo), "data:image/png;base64,AQID");
  assert.deepEqual(asked, [`http://x/logos/${logo.digest}`]);
  await assert.rejects(fetchLogo(network, "http://x", { ...logo, digest: DIGEST }), /differs/);
});
