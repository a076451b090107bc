/**
 * The worker's page as one file, with the same HTML, style and scripts, that anybody can host or
 * hand out. Its policy allows these scripts and this style only; it loads nothing, and talks to the
 * service of the link that it is given (`link.js` narrows the policy to that).
 */
import { integrity } from "./hashes.mjs";
import { HTML, LOADED, STYLE, replaced, scripts } from "./page.mjs";

const IMPORT = /^import \{([^}]*)\} from "\.\/([^"]+)";\n/gm;
const EXPORT_LIST = /^export \{([^}]*)\};\n/gm;
const EXPORT = /^export ((?:async )?(?:function|class|const) (\w+))/gm;

/**
 * @param {import("./page.mjs").Read} read
 * @returns {string}
 */
export function oneFile(read) {
  const style = `\n${read(STYLE)}`;
  const script = `\nconst modules = {};\n\n${scripts(read)
    .map((name) => wrapped(name, read(name)))
    .join("\n")}`;
  if (/<\/(?:script|style)|<!--/i.test(script + style))
    throw new Error("a script or style contains what would end it in HTML");
  const policy = [
    "default-src 'none'",
    `script-src '${integrity(script)}'`,
    `style-src '${integrity(style)}'`,
    "img-src data:",
    "connect-src https: http://127.0.0.1:* http://localhost:*",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const head = [
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    `<style>${style}</style>`,
    `<script type="module">${script}</script>`,
  ];
  const html = replaced(read(HTML), "<html ", "<html data-one-file ");
  return replaced(html, LOADED, head.map((line) => `${line}\n`).join(""));
}

/**
 * A module as a function that returns its exports, so that names do not meet.
 * @param {string} name
 * @param {string} text
 */
function wrapped(name, text) {
  const exported = [
    ...[...text.matchAll(EXPORT)].map(([, , one]) => one),
    ...[...text.matchAll(EXPORT_LIST)].flatMap(([, list]) =>
      list.split(",").map((one) => one.trim()),
    ),
  ];
  const body = text
    .replaceAll(IMPORT, (_, names, other) => `const {${names}} = modules["${other}"];\n`)
    .replaceAll(EXPORT_LIST, "")
    .replaceAll(EXPORT, "$1");
  if (/^(?:import|export)\b/m.test(body))
    throw new Error(`${name}: an import or export that cannot be taken out`);
  return `modules["${name}"] = (() => {\n${body}\nreturn { ${exported.join(", ")} };\n})();\n`;
}
