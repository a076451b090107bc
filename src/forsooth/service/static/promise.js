/** What ε means, in words: the same for workers and requesters. */
import { shown } from "./dom.js";

/**
 * The largest possible certainty after seeing a report, if two answers seemed equally likely before.
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
    `ε = ${shown(epsilon, 4)} per question: someone who considers two answers equally likely can ` +
      `be at most ${percent(certainty(epsilon))} sure after seeing the report ` +
      "(50 % means that nothing was learned).",
    everything
      ? `${tasks === 1 ? "1 question" : `All ${questions} together`}: ε = ${shown(epsilon * tasks, 4)} at most.`
      : `ε adds up over the answers that are given: ε = ${shown(epsilon * tasks, 4)} at most, ` +
        `if ${tasks === 1 ? "the question is" : `all ${questions} are`} answered.`,
  ];
}
