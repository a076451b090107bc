/**
 * All that is made from other files: the client as one file for browsers, the integrity of what the
 * worker's page loads, the manifest of that page, the page as one file, and the published digests.
 * No bundler, no minifier: the same sources give the same bytes, and everybody can read them.
 *
 *   node build.mjs      writes them and prints the digests
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { bundle } from "./build/client.mjs";
import { hex } from "./build/hashes.mjs";
import { oneFile } from "./build/one-file.mjs";
import { manifest, withIntegrity } from "./build/page.mjs";
import { withDigests } from "./build/published.mjs";

const HERE = new URL(".", import.meta.url);
const STATIC = new URL("../../src/forsooth/service/static/", HERE);
const ROOT = new URL("../../", HERE);
const PUBLISHED = ["CHANGELOG.md", "docs/how-to/verify-page.md"];

/**
 * Every file that is made, by its address.
 * @returns {Map<string, string>}
 */
export function built() {
  /** @type {Map<string, string>} */
  const made = new Map();
  const read = (/** @type {URL} */ url) => made.get(url.href) ?? readFileSync(url, "utf8");
  const served = (/** @type {string} */ name) => read(new URL(name, STATIC));
  const set = (/** @type {URL} */ url, /** @type {string} */ text) => made.set(url.href, text);

  set(new URL("forsooth-client.js", STATIC), bundle(HERE));
  set(new URL("worker.html", STATIC), withIntegrity(served));
  set(new URL("SHA256SUMS", STATIC), manifest(served));
  set(new URL("forsooth-page.html", HERE), oneFile(served));
  const digests = {
    "Digest of the worker's page": hex(served("SHA256SUMS")),
    "SHA-256 of forsooth-page.html": hex(read(new URL("forsooth-page.html", HERE))),
  };
  for (const path of PUBLISHED) {
    const url = new URL(path, ROOT);
    set(url, withDigests(read(url), digests, path));
  }
  return made;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const made = built();
  for (const [url, text] of made) writeFileSync(new URL(url), text);
  for (const name of ["SHA256SUMS", "forsooth-page.html"]) {
    const [text] = [...made].filter(([url]) => url.endsWith(name)).map(([, text]) => text);
    console.log(`${hex(text)}  ${name}`);
  }
}
