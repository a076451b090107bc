/** See rerolled_coins.py. */
import { Collector } from "../../clients/js/test/collector.js";
import { memoryStore } from "../../clients/js/src/index.js";

const { mechanism, people, reloads, questions } = JSON.parse(process.argv[2]);
const texts = Array.from({ length: questions }, (_, place) => `Question ${place}?`);
const answers = Object.fromEntries(texts.map((_, place) => [`q${place}`, "yes"]));
const collector = new Collector();
const link = collector.make(mechanism, texts);
let [equal, messages] = [0, 0];
for (let person = 0; person < people; person++) {
  const store = memoryStore();
  const seen = new Set();
  let same = false;
  for (let load = 0; load <= reloads && !same; load++) {
    const { rows, body } = await (await collector.open(link, { store })).prepare(answers);
    same = rows.every(({ answer, sent }) => sent.label === answer);
    seen.add(body);
  }
  equal += Number(same);
  messages = Math.max(messages, seen.size);
}
console.log(JSON.stringify({ equal, messages }));
