/** See moved_coins.py. */
import { Collector } from "../../clients/js/test/collector.js";
import { memoryStore } from "../../clients/js/src/index.js";

const { mechanism, tries } = JSON.parse(process.argv[2]);
const collector = new Collector();
const link = collector.make(mechanism, ["Do you smoke?", "Do you drink?"]);
let moved = 0;
for (let attempt = 0; attempt < tries; attempt++) {
  const campaign = await collector.open(link, { store: memoryStore(), protects: "answers" });
  const alone = (await campaign.prepare({ q1: 3 })).rows[1].sent.value;
  const beside = (await campaign.prepare({ q0: 9, q1: 3 })).rows[1].sent.value;
  moved += Number(alone !== beside);
}
console.log(JSON.stringify(moved));
