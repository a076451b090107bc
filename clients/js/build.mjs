/**
 * The client as one file for browsers: the modules of `src`, each after those that it imports, with
 * imports and exports taken out. No bundler, no minifier: the same sources give the same bytes, and
 * whoever wants to can read them.
 *
 *   node build.mjs      writes the file and prints its integrity hash
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const SOURCE = new URL("src/", import.meta.url);
export const TARGET = new URL(
  "../../src/forsooth/service/static/forsooth-client.js",
  import.meta.url,
);
const IMPORT = /^import \{[^}]*\} from "\.\/([^"]+)";\n/gm;
const REEXPORT = /^export \{([^}]*)\} from "\.\/([^"]+)";\n/gm;

/** @returns {string} */
export function bundle() {
  const { version, license } = JSON.parse(
    readFileSync(new URL("package.json", import.meta.url), "utf8"),
  );
  /** @type {Map<string, string>} */
  const modules = new Map();
  const index = readFileSync(new URL("index.js", SOURCE), "utf8");
  const exported = [...index.matchAll(REEXPORT)];
  for (const [, , name] of exported) add(name, modules);
  const names = exported.flatMap(([, list]) => list.split(",").map((name) => name.trim()));
  return [
    `/*! forsooth-client ${version} | ${license} | made from clients/js/src by build.mjs */\n`,
    ...modules.values(),
    `export { ${names.sort().join(", ")} };\n`,
  ].join("\n");
}

/**
 * A module after all that it imports.
 * @param {string} name
 * @param {Map<string, string>} modules
 */
function add(name, modules) {
  if (modules.has(name)) return;
  const text = readFileSync(new URL(name, SOURCE), "utf8");
  for (const [, other] of text.matchAll(IMPORT)) add(other, modules);
  const body = text.replaceAll(IMPORT, "").replaceAll(/^export /gm, "");
  if (/^(?:import|export)\b/m.test(body))
    throw new Error(`${name}: an import or export that cannot be taken out`);
  modules.set(name, `// ${name}\n${body}`);
}

/** @param {string} text */
export function integrity(text) {
  return `sha384-${createHash("sha384").update(text).digest("base64")}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = bundle();
  mkdirSync(new URL(".", TARGET), { recursive: true });
  writeFileSync(TARGET, text);
  console.log(integrity(text));
}
