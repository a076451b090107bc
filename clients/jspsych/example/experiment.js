/** Open index.html?campaign=LINK (with the # of an invitation as %23). */
import ForsoothPlugin from "../src/index.js";
import { initJsPsych } from "jspsych";

/** Stands for any trial of yours: a button and its response time. */
class Continue {
  static info = { name: "continue", version: "1.0.0", parameters: {}, data: {} };

  trial(display) {
    const started = performance.now();
    display.innerHTML = "<p>Ready?</p><button>Continue</button>";
    return new Promise((resolve) => {
      display.querySelector("button").onclick = () =>
        resolve({ rt: Math.round(performance.now() - started) });
    });
  }
}

const jsPsych = initJsPsych({
  on_finish: () => {
    document.body.textContent = "Thank you.";
    globalThis.collected = {
      trials: jsPsych.data.get().values(),
      interactions: jsPsych.data.getInteractionData().values(),
    };
  },
});
const link = new URLSearchParams(location.search).get("campaign");
await jsPsych.run([{ type: Continue }, { type: ForsoothPlugin, link }, { type: Continue }]);
