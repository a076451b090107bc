/**
 * Questions that look alike: answers to them probably go together, and then their ε count together.
 *
 * Two questions look alike if they share at least 60 % of their longer words (Dice's coefficient of
 * the sets of words of four letters or more, without regard to case). Short words are mostly the
 * same in all questions. Pictures are not compared, so questions with a picture are left out.
 * It finds shared words only: questions that mean the same in other words are not found.
 */

const ALIKE = 0.6;
const LONG = /\p{L}{4,}/gu;
const MOST = 300; // questions that are compared with each other while somebody is typing

/**
 * The first pair of questions that look alike, and how many questions have one like them.
 * @param {readonly {text: string, image?: string | null}[]} tasks
 * @returns {{pair: [string, string], questions: number} | null}
 */
export function lookAlike(tasks) {
  const texts = tasks.filter(({ image }) => !image).map(({ text }) => text).slice(0, MOST);
  const words = texts.map(wordsOf);
  let pair = null;
  const found = new Set();
  for (let later = 1; later < texts.length; later++) {
    for (let first = 0; first < later; first++) {
      if (similarity(words[first], words[later]) < ALIKE) continue;
      pair ??= [texts[first], texts[later]];
      found.add(first).add(later);
    }
  }
  return pair && { pair, questions: found.size };
}

/** Dice's coefficient of two sets of words; texts without longer words are like none. */
function similarity(some, others) {
  const shared = [...some].filter((word) => others.has(word)).length;
  return shared && (2 * shared) / (some.size + others.size);
}

/** @param {string} text */
function wordsOf(text) {
  return new Set(text.normalize("NFKC").toLowerCase().match(LONG) ?? []);
}
