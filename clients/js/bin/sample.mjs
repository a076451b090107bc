/**
 * Reports of this client for known answers, so that `forsooth audit --reports` can judge it.
 *
 *   node bin/sample.mjs --mechanism FILE --tasks N --draws D [--bug NAME] > samples.ndjson
 *
 * The first line is {mechanism, tasks}; every other one is a worker's {worker, answers, report}, and
 * {answered} where participation is public. Answers go round the scale, and round NULL where it is
 * protected. A bug plants a fault that the audit must find.
 */
import { readFileSync } from "node:fs";
import { once } from "node:events";
import { parseArgs } from "node:util";

import { base64 } from "../src/bytes.js";
import { ChannelMechanism } from "../src/channel.js";
import { makeReport, readMechanism, secureCoins } from "../src/index.js";

const LINES = 1000; // written at once

/** @type {Record<string, (mechanism: ChannelMechanism) => import("../src/coins.js").Coins>} */
const BUGS = {
  /** Words are reduced modulo a number that does not divide 2³². */
  modulo: () => ({
    words: (count) => secureCoins.words(count).map((word) => word % 3_000_000_000),
  }),
  /** The first answer's thresholds serve for every input. */
  "first-row": (mechanism) => {
    const width = mechanism.symbols - 1;
    mechanism.thresholds.forEach((_, place, all) => (all[place] = all[place % width]));
    return secureCoins;
  },
  /** The last input (NULL) keeps its symbol a tenth too often. */
  "null-kept": (mechanism) => {
    const width = mechanism.symbols - 1;
    const last = mechanism.thresholds.subarray(-width);
    const kept = 2 ** 32 - last[width - 1];
    const scale = (2 ** 32 - 1.1 * kept) / last[width - 1];
    last.forEach((threshold, place) => (last[place] = Math.round(threshold * scale)));
    return secureCoins;
  },
};

const { values: options } = parseArgs({
  options: {
    mechanism: { type: "string" },
    tasks: { type: "string", default: "5" },
    draws: { type: "string", default: "1000" },
    bug: { type: "string" },
  },
});
const text = readFileSync(options.mechanism ?? fail("--mechanism FILE is needed"), "utf8").trim();
const mechanism = readMechanism(text);
const coins = options.bug === undefined ? secureCoins : plant(options.bug);
const tasks = Array.from({ length: count(options.tasks) }, (_, task) => `task ${task}`);
const { size, labels } = mechanism.scale;
const inputs = size + Number(mechanism.layout === "rows");
const sheets = Array.from({ length: inputs }, (_, first) =>
  tasks.flatMap((task, place) => {
    const code = (first + place) % inputs;
    return code < size ? [/** @type {[string, string]} */ ([task, labels[code]])] : [];
  }),
).map((pairs) => Object.fromEntries(pairs));

let lines = [JSON.stringify({ mechanism: text, tasks })];
for (let draw = 0; draw < count(options.draws); draw++) {
  const worker = `worker ${draw}`;
  const answers = sheets[draw % inputs];
  const { answered, bytes } = await makeReport(mechanism, tasks, answers, coins, worker);
  lines.push(
    JSON.stringify({ worker, answers, report: base64(bytes), ...(answered && { answered }) }),
  );
  if (lines.length >= LINES) await flush();
}
await flush();

async function flush() {
  const room = process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  lines = [];
  if (!room) await once(process.stdout, "drain");
}

/** @param {string} name */
function plant(name) {
  const { cell } = mechanism;
  if (!(cell instanceof ChannelMechanism)) fail("bugs are planted in channels");
  return (BUGS[name] ?? fail(`unknown bug ${name}; known: ${Object.keys(BUGS).join(", ")}`))(cell);
}

/** @param {string} number */
function count(number) {
  return /^[1-9][0-9]{0,8}$/.test(number)
    ? Number(number)
    : fail(`${number} is not a number of things`);
}

/**
 * @param {string} complaint
 * @returns {never}
 */
function fail(complaint) {
  console.error(complaint);
  process.exit(2);
}
