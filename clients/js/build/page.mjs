/**
 * The worker's page: the files that it loads, their integrity in its HTML, and the manifest.
 *
 * `integrity` on a script says nothing of what the script imports. For that there is an import map,
 * which Chromium 127, Firefox 138, Safari 18 and later obey; preloads with integrity are what older
 * browsers may obey. A browser that knows neither shows the page all the same.
 */
import { hex, integrity } from "./hashes.mjs";

/** @typedef {(name: string) => string} Read the text of a file that the service serves */

export const HTML = "worker.html";
export const STYLE = "style.css";
export const SCRIPT = "worker.js";
/** The part of the HTML that names the files. It is made here; nothing else stands in it. */
export const LOADED = /(?<=<!-- made by clients\/js\/build\.mjs -->\n)[^]*?(?=<!-- end -->\n)/;
const IMPORT = /^(?:import|export)\s[^;]*?from "\.\/([^"]+)";$/gm;

/**
 * The scripts that the page runs, each after those that it imports; its own comes last.
 * @param {Read} read
 * @returns {string[]}
 */
export function scripts(read) {
  /** @type {Set<string>} */
  const found = new Set();
  const add = (/** @type {string} */ name) => {
    for (const [, other] of read(name).matchAll(IMPORT)) add(other);
    found.add(name);
  };
  add(SCRIPT);
  return [...found];
}

/**
 * The HTML with the integrity of everything that it loads.
 * @param {Read} read
 */
export function withIntegrity(read) {
  const imported = scripts(read).filter((name) => name !== SCRIPT);
  const hashes = imported.map((name) => [`../static/${name}`, integrity(read(name))]);
  const lines = [
    `<link rel="stylesheet" href="../static/${STYLE}" integrity="${integrity(read(STYLE))}">`,
    `<script type="importmap">${JSON.stringify({ integrity: Object.fromEntries(hashes) }, null, 1)}</script>`,
    ...hashes.map(([url, hash]) => `<link rel="modulepreload" href="${url}" integrity="${hash}">`),
    `<script type="module" src="../static/${SCRIPT}" integrity="${integrity(read(SCRIPT))}"></script>`,
  ];
  return replaced(read(HTML), LOADED, lines.map((line) => `${line}\n`).join(""));
}

/**
 * SHA-256 and name of every file of the page, as `sha256sum` writes and checks them.
 * @param {Read} read
 */
export function manifest(read) {
  const names = [HTML, STYLE, ...scripts(read)].sort();
  return names.map((name) => `${hex(read(name))}  ${name}\n`).join("");
}

/**
 * The text with one part replaced, which must be there.
 * @param {string} text
 * @param {RegExp | string} part
 * @param {string} by
 */
export function replaced(text, part, by) {
  const found = typeof part === "string" ? text.includes(part) : part.test(text);
  if (!found) throw new Error(`the part ${part} is missing`);
  return text.replace(part, () => by);
}
