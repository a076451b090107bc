/** QR codes: of the open link, and a sheet of cards to print and hand out. The service draws them. */
import { call, save } from "./api.js";
import { element } from "./dom.js";

const AT_ONCE = 500; // codes of one request
const STYLE = `body { font: 11pt sans-serif; margin: 1cm; }
  main { display: grid; grid-template-columns: repeat(auto-fill, minmax(6cm, 1fr)); gap: .4cm; }
  article { border: 1px dashed #888; padding: .4cm; text-align: center; break-inside: avoid; }
  img { width: 4.5cm; height: 4.5cm; } p { margin: .2cm 0; overflow-wrap: anywhere; }
  .link { font-size: 7pt; }`;

/** @param {string} code SVG of the service @returns the address of a picture */
export function picture(code) {
  return `data:image/svg+xml,${encodeURIComponent(code)}`;
}

/** @param {string} campaign */
export async function linkCode(campaign) {
  const { codes } = await call(`/${campaign}/codes`, {});
  return codes[0];
}

/**
 * A file with a card for each link: a name, if there is one, the code and the link.
 * @param {string} campaign
 * @param {string} title
 * @param {{name: string, link: string, token: string}[]} cards
 */
export async function saveSheet(campaign, title, cards) {
  const codes = [];
  for (let start = 0; start < cards.length; start += AT_ONCE) {
    const tokens = cards.slice(start, start + AT_ONCE).map(({ token }) => token);
    codes.push(...(await call(`/${campaign}/codes`, { tokens })).codes);
  }
  const titled = element("title", {}, title).outerHTML; // text, since this page takes no inline style
  const head = `<meta charset="utf-8">${titled}<style>${STYLE}</style>`;
  const heading = element("h1", {}, title).outerHTML;
  const all = element("main", {}, ...cards.map(({ name, link }, place) => card(name, link, codes[place])));
  const page = `<!doctype html>\n<html><head>${head}</head><body>${heading}${all.outerHTML}</body></html>\n`;
  save(new Blob([page], { type: "text/html" }), "invitations.html");
}

function card(name, link, code) {
  return element(
    "article",
    {},
    element("p", {}, name),
    element("img", { src: picture(code), alt: "QR code of the link" }),
    element("p", { className: "link" }, link),
  );
}
