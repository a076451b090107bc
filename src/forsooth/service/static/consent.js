/** What a person is asked before they see the questions, where a promise is weaker than usual. */
import { TOTAL_CAP } from "./forsooth-client.js";
import { byId, element, shown } from "./dom.js";

/**
 * Let the person agree, if there is something to agree to; then go on.
 * @param {import("./forsooth-client.js").Campaign} campaign
 * @param {() => void} goOn
 */
export function askFirst(campaign, goOn) {
  const reasons = [...openParticipation(campaign), ...beyondTheCap(campaign)];
  if (reasons.length === 0) return goOn();
  byId("reasons").replaceChildren(...reasons.map((text) => element("p", {}, text)));
  byId("agree").onclick = () => {
    byId("consent").hidden = true;
    goOn();
    byId("title").focus();
  };
  byId("consent").hidden = false;
}

/** Which questions were answered is not protected. */
function openParticipation({ verification }) {
  if (verification.protects !== "answers") return [];
  return [
    "This survey does not hide which questions you answer. Everybody who reads your report sees which you " +
      "answered and which you skipped; only the answers are protected. If skipping a question could " +
      "tell something about you, do not take part, or answer every question.",
  ];
}

/** All surveys together exceed the device's limit; a first survey has its own promise only. */
function beyondTheCap({ spending: { before, after } }) {
  if (before === 0 || after === before || after <= TOTAL_CAP) return [];
  return [
    `Surveys add up. What you sent from this browser to this site so far has ε = ${shown(before)} in ` +
      `all; with this survey it would be up to ${shown(after)}. Beyond ${shown(TOTAL_CAP)} your device ` +
      "asks you first, because then somebody who reads all your reports could become practically " +
      "certain of things about you. You can stop here: nothing has been sent.",
  ];
}
