/** What ε means, in words: the same for the worker who is promised it and the requester who asks. */
import { shown } from "./dom.js";

/**
 * How sure somebody can be who thought two answers equally likely, after seeing the report.
 * @param {number} epsilon
 * @returns {number} from ½, nothing learned, to 1
 */
export function certainty(epsilon) {
  return 1 / (1 + Math.exp(-epsilon));
}

/** @param {number} share */
function percent(share) {
  return share > 0.999 ? "more than 99.9 %" : `${shown(100 * share, share > 0.99 ? 1 : 0)} %`;
}

/**
 * The promise in sentences.
 * @param {{epsilon: number, tasks: number, protects: string}} guarantee ε of one question
 * @returns {string[]}
 */
export function promised({ epsilon, tasks, protects }) {
  const everything = protects === "answers+participation";
  const questions = tasks === 1 ? "1 question" : `${shown(tasks)} questions`;
  return [
    everything
      ? "Hidden: every answer, and whether a question was answered or skipped."
      : "Hidden: every answer. Not hidden: which questions were answered.",
    `ε = ${shown(epsilon, 4)} per question: whoever wavers between two possible answers to a ` +
      `question can be at most ${percent(certainty(epsilon))} sure after seeing the report ` +
      "(50 % would be knowing nothing).",
    everything
      ? `All ${questions} together: ε = ${shown(epsilon * tasks, 4)} at most.`
      : `ε adds up over the answers that are given: ε = ${shown(epsilon * tasks, 4)} at most, ` +
        `if all ${questions} are answered.`,
  ];
}
