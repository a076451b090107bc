/** See downgraded_protection.py. */
import { Collector } from "../../clients/js/test/collector.js";
import { memoryStore } from "../../clients/js/src/index.js";

const { mechanism, questions } = JSON.parse(process.argv[2]);
const collector = new Collector();
const link = collector.make(mechanism, questions);
try {
  const campaign = await collector.open(link, { store: memoryStore(), limit: 1 });
  await campaign.prepare({ q1: "yes" });
  await campaign.send();
} catch (error) {
  if (error.name !== "ForsoothError") throw error;
}
console.log(JSON.stringify(collector.received));
