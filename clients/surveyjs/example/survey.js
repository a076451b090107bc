/** Open index.html?campaign=LINK (with the # of an invitation as %23). */
import { addPrivateQuestions } from "../src/index.js";

const survey = new globalThis.Survey.Model({
  pages: [
    { elements: [{ type: "html", name: "private", html: "Please wait …" }] },
    { elements: [{ type: "text", name: "profession", title: "Your profession" }] },
  ],
});
const link = new URLSearchParams(location.search).get("campaign");
addPrivateQuestions(survey, { name: "private", link });
Object.assign(globalThis, { survey, values: [] });
survey.onValueChanged.add((_, { name, value }) => globalThis.values.push([name, value]));

// One of SurveyJS's packages for React, Vue and Angular does this in a survey of yours.
const main = document.querySelector("main");
function render() {
  const next = Object.assign(document.createElement("button"), { textContent: "Next page" });
  next.onclick = () => (survey.isLastPage ? survey.completeLastPage() : survey.nextPage());
  const places = survey.currentPage.questions.map((question) => {
    const element = document.createElement("div");
    element.innerHTML = question.getType() === "html" ? question.html : question.title;
    return [question, element];
  });
  main.replaceChildren(...places.map(([, element]) => element), next);
  for (const [question, element] of places) survey.afterRenderQuestion(question, element);
}
survey.onCurrentPageChanged.add(render);
survey.onComplete.add(() => (main.textContent = "Thank you."));
render();
