/**
 * The client as one file: the modules of `src`, each after those that it imports, with imports, exports
 * and types taken out. Names, code and all other comments stay as they are.
 */
import { readFileSync } from "node:fs";

const IMPORT = /^import \{[^}]*\} from "\.\/([^"]+)";\n/gm;
const COMMENT = /[ \t]*\/\*\*([^]*?)\*\/( |\n)?/g;
const TAGS = /(?:^|\n)[ *]*@(?:abstract|param|private|property|returns|template|type|typedef)\b[^]*$/;
const REEXPORT = /^export \{([^}]*)\} from "\.\/([^"]+)";\n/gm;

/**
 * @param {URL} folder of the npm package
 * @returns {string}
 */
export function bundle(folder) {
  const { version, license } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8"));
  const source = new URL("src/", folder);
  /** @type {Map<string, string>} */
  const modules = new Map();
  const index = readFileSync(new URL("index.js", source), "utf8");
  const exported = [...index.matchAll(REEXPORT)];
  for (const [, , name] of exported) add(name, source, modules);
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
 * @param {URL} source
 * @param {Map<string, string>} modules
 */
function add(name, source, modules) {
  if (modules.has(name)) return;
  const text = readFileSync(new URL(name, source), "utf8");
  for (const [, other] of text.matchAll(IMPORT)) add(other, source, modules);
  const body = withoutTypes(text.replaceAll(IMPORT, "").replaceAll(/^export /gm, ""));
  if (/^(?:import|export)\b/m.test(body))
    throw new Error(`${name}: an import or export that cannot be taken out`);
  modules.set(name, `// ${name}\n${body}`);
}

/**
 * The text without what only TypeScript reads: the tags of comments, and comments of tags alone.
 * @param {string} text
 */
function withoutTypes(text) {
  return text.replaceAll(COMMENT, (comment, inside, after = "") => {
    if (!TAGS.test(inside)) return comment;
    const words = inside.replace(TAGS, "").replace(/[\s*]+$/, "");
    const start = comment.slice(0, comment.indexOf("/**"));
    if (words !== "") return `${start}/**${words}\n${start} */${after}`;
    return after === "\n" ? "" : start;
  });
}
