/** What the page says about texts, sections and pages: all of it stands here. */
import { shown } from "./dom.js";

export const WORDS = {
  consent: "Your consent",
  agree: "I have read this, and I agree to take part.",
  begin: "Show the questions",
  notStored: "That you agree is not stored anywhere: only a report shows it, if you send one.",
  review: "See what will be sent",
  next: "Next",
  page: (place, pages) => `Page ${shown(place + 1)} of ${shown(pages)}`,
  answered: (count, all) => `${shown(count)} of ${shown(all)} answered`,
};
