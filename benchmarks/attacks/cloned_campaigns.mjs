/** See cloned_campaigns.py. */
import { Collector } from "../../clients/js/test/collector.js";
import { memoryStore } from "../../clients/js/src/index.js";

const { rules, question, clones, hosts, fragments } = JSON.parse(process.argv[2]);
const collector = new Collector();
const store = memoryStore();
const first = collector.make(rules[0], question, { invitation_required: false });
const links = [first];
for (let clone = 0; clone < clones; clone++) links.push(collector.make(rules[0], question));
links.push(...rules.slice(1).map((rule) => collector.make(rule, question)));
links.push(...hosts.map((host) => first.replace("survey.example.org", host)));
links.push(...fragments.map((fragment) => `${first}#${fragment}`));
for (const link of links) {
  const isOpen = link.endsWith(new URL(first).pathname);
  try {
    const campaign = await collector.open(link, { store, ...(isOpen && { invitation: undefined }) });
    await campaign.prepare({ q0: "yes" });
    await campaign.send();
  } catch (error) {
    if (error.name !== "ForsoothError") throw error;
  }
}
console.log(JSON.stringify(collector.received));
