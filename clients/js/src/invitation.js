/** Who may report: the token of an invitation, or one that is made here. */
import { base64url } from "./bytes.js";
import { ForsoothError } from "./error.js";
import { idIsMissing } from "./panel.js";

/**
 * The invitation: that of the kept report, or the one given. Null by an open link, for which the
 * worker makes a token, whatever stands in the link. One that cannot fit is noticed before a report is
 * bound to it.
 * @param {string | undefined} given
 * @param {string | null} used
 * @param {boolean} required
 */
export function givenInvitation(given, used, required) {
  if (!required) {
    if (given && !given.startsWith("open-")) {
      throw new ForsoothError(
        "this is not the campaign's link: open the whole link that you were sent",
        "input",
      );
    }
    return used;
  }
  if (used !== null && given && given !== used) throw answeredAlready();
  const token = used ?? given ?? "";
  if (!/^[A-Za-z0-9_-]{43}$/.test(token)) {
    throw new ForsoothError(
      "this campaign needs an invitation: open the whole link that you were sent",
      "input",
    );
  }
  return token;
}

/**
 * The token of somebody whom a panel sent. Who comes back without the id has the report that is kept.
 * @param {string | undefined} token
 * @param {import("./memory.js").Kept | null} kept
 * @param {import("./panel.js").Panel} panel
 */
export function panelInvitation(token, kept, { parameter }) {
  if (kept && token && token !== kept.invitation) throw answeredAlready();
  const found = token ?? kept?.invitation;
  if (!found) throw idIsMissing(parameter);
  return found;
}

/** By an open link. */
export function openToken() {
  return `open-${base64url(crypto.getRandomValues(new Uint8Array(32)))}`;
}

export function answeredAlready() {
  return new ForsoothError(
    "this device already holds a report for this campaign; a second one would be a second spend. " +
      "Somebody else who wants to answer here needs a browser profile of their own",
    "answered",
  );
}
