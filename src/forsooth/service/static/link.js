/**
 * The campaign that this page is about. A service serves the page under the campaign's address; the
 * page as one file takes the link that the worker was sent, after its # or pasted.
 */
import { byId, element } from "./dom.js";
import { ForsoothError } from "./forsooth-client.js";

const LOOPBACK = ["localhost", "127.0.0.1"];
export const isOneFile = "oneFile" in document.documentElement.dataset;

/**
 * The address of the campaign; null if the page has to ask for it first.
 * @returns {string | null}
 */
export function campaignLink() {
  if (!isOneFile) return location.href;
  const [form, text] = [byId("link"), decodeURIComponent(location.hash.slice(1)).trim()];
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    location.hash = byId("link-text").value.trim(); // the page then begins anew
  });
  form.hidden = false;
  byId("title").textContent = "A private survey";
  if (text === "") return null;
  const link = checked(text);
  form.hidden = true;
  return link.href;
}

/** A link to a service over TLS, which is from now on the only one that this page can talk to. */
function checked(text) {
  const link = URL.canParse(text) ? new URL(text) : null;
  const isSafe =
    link?.protocol === "https:" || (link?.protocol === "http:" && LOOPBACK.includes(link.hostname));
  if (!link || !isSafe) {
    throw new ForsoothError("the link of a survey begins with https://; paste all of it", "input");
  }
  const policy = `connect-src ${link.origin}`;
  document.head.append(
    element("meta", { "http-equiv": "Content-Security-Policy", content: policy }),
  );
  return link;
}
