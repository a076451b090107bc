/**
 * Private questions in a SurveyJS survey. They take the place of an `html` question, which has no
 * value of its own; `survey.data` gets the digest of the mechanism and a receipt, the same for every
 * answer. A survey that measures the time spent on pages is refused.
 */
import { askIn } from "forsooth-client/embedded";

/** @typedef {import("survey-core").SurveyModel} SurveyModel */

/**
 * Ask a campaign's questions where the survey has an `html` question of this name. The page cannot be
 * left forwards before they are answered, skipped or declined.
 * @param {SurveyModel} survey
 * @param {{name: string, link: string, limit?: number, totalLimit?: number}} options
 */
export function addPrivateQuestions(survey, { name, link, ...limits }) {
  const place = survey.getQuestionByName(name);
  if (place?.getType() !== "html") throw new Error(`forsooth: "${name}" is no html question`);
  if (survey.showTimer) throw new Error("forsooth: a survey with private questions has no timer");
  let asking = false;
  survey.onAfterRenderQuestion.add(async (_, { question, htmlElement }) => {
    if (question !== place || asking || survey.getValue(name)) return;
    asking = true;
    const outcome = await askIn(htmlElement, link, limits);
    htmlElement.textContent = outcome.receipt === "accepted" ? "Your report has been sent." : "";
    survey.setValue(name, outcome);
  });
  const wait = (/** @type {{allow: boolean}} */ options) => {
    if (!survey.getValue(name)) options.allow = false;
  };
  survey.onCurrentPageChanging.add((_, options) => {
    if (options.isGoingForward && options.oldCurrentPage === place.page) wait(options);
  });
  survey.onCompleting.add((_, options) => {
    if (place.isVisible) wait(options);
  });
}
