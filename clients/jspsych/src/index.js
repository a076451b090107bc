/**
 * A jsPsych plugin for private questions. Three rules:
 *
 * - The data of a trial are `info.data` and what jsPsych adds to every trial. They are the same for
 *   every answer.
 * - There are no times: the experiment's clock (`time_elapsed`) stands still during the trial, and
 *   the page's focus is not recorded.
 * - What could record the trial in another way (extensions, saved parameters, which contain the
 *   link) is refused before anything is asked.
 */
import { askIn } from "forsooth-client/embedded";
import { ParameterType } from "jspsych";

/** @typedef {{link: string, limit: number | null, total_limit: number | null}} Parameters */

export default class ForsoothPlugin {
  static info = /** @type {const} */ ({
    name: "forsooth",
    version: "0.1.0",
    parameters: {
      /** The campaign's link, as a participant is sent it. */
      link: { type: ParameterType.STRING, default: undefined },
      /** The largest ε per answer; with more, nothing is asked. */
      limit: { type: ParameterType.FLOAT, default: null },
      /** The largest ε for everything that is asked here. */
      total_limit: { type: ParameterType.FLOAT, default: null },
    },
    data: {
      /** The digest of the mechanism; null if none was sent. */
      design: { type: ParameterType.STRING },
      /** "accepted" if the report has arrived, else "none". */
      receipt: { type: ParameterType.STRING },
    },
  });

  /** @param {import("jspsych").JsPsych} jsPsych */
  constructor(jsPsych) {
    this.jsPsych = jsPsych;
  }

  /**
   * @param {HTMLElement} display
   * @param {Parameters & {extensions?: unknown[], save_trial_parameters?: object}} trial
   * @param {() => void} onLoad
   */
  async trial(display, trial, onLoad) {
    if (trial.extensions?.length) throw new Error("forsooth: a private question has no extensions");
    if (trial.save_trial_parameters) {
      throw new Error("forsooth: save_trial_parameters would store the link of the participant");
    }
    const started = Date.now();
    this.jsPsych.data.removeInteractionListeners();
    const options = { limit: trial.limit ?? undefined, totalLimit: trial.total_limit ?? undefined };
    try {
      onLoad();
      return await askIn(display, trial.link, options);
    } finally {
      this.jsPsych.data.createInteractionListeners();
      const clock = this.jsPsych.getStartTime();
      clock.setTime(clock.getTime() + Date.now() - started);
    }
  }
}
