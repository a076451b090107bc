/** What a campaign shows before its questions, and after them: logo, introduction, consent, thanks. */
import { byId, element, tell } from "./dom.js";
import { WORDS } from "./words.js";

/** @typedef {import("./forsooth-client.js").Campaign} Campaign */

/**
 * The logo and the thanks, which stay; a logo that cannot be loaded is left out.
 * @param {Campaign} campaign
 */
export function present(campaign) {
  tell(byId("thanks"), campaign.presentation.thanks);
  const show = (url) => {
    byId("logo").hidden = !url;
    if (url) byId("logo").src = url;
  };
  campaign.logo().then(show, () => {});
}

/**
 * The introduction; then, where there is one, the consent that must be given. Who answered here before
 * has given it.
 * @param {Campaign} campaign
 * @param {boolean} before
 * @param {() => void} goOn
 */
export function welcome({ presentation: { introduction, consent } }, before, goOn) {
  tell(byId("introduction"), introduction);
  if (!consent || before) return goOn();
  const box = element("input", { type: "checkbox", required: true });
  const form = byId("opening");
  form.replaceChildren(
    element("h2", {}, WORDS.consent),
    element("p", { dir: "auto", className: "text" }, consent),
    element("label", { className: "choice" }, box, element("span", {}, WORDS.agree)),
    element("p", { className: "soft" }, WORDS.notStored),
    element("button", { className: "primary" }, WORDS.begin),
  );
  form.onsubmit = (event) => {
    event.preventDefault();
    form.hidden = true;
    goOn();
    byId("title").focus();
  };
  form.hidden = false;
}
