/** What to expect of a campaign while it is being planned: the total ε, presets for it, the error. */
import { call } from "./api.js";
import { byId, element, shown } from "./dom.js";
import { odds, strength } from "./forsooth-client.js";

/** The largest ε in all, to two decimals, that a promise of the class has: see odds.py. */
const PRESETS = {
  strong: 1.09, // strong
  balanced: 2.94, // moderate
  light: 6.9, // weak
};
export const OWN = "own"; // an ε that somebody typed
const PAUSE = 300; // milliseconds without typing before the service is asked

const fields = byId("new-form").elements;
let timer = 0;
let asked = ""; // what the card on the page answers, or will

/** Say what the presets mean, and let whoever types an ε leave them. */
export function preparePresets() {
  for (const [name, total] of Object.entries(PRESETS)) {
    byId(`preset-${name}`).textContent =
      `In all ε = ${total} for one person: odds of 1 to 1 can become ${odds(total)}. ` +
      `Participants read “${strength(total)}”.`;
  }
  fields.epsilon.addEventListener("input", () => {
    fields.preset.value = OWN;
  });
  fields.count.addEventListener("input", () => {
    fields.people.value = fields.count.value;
  });
}

/** The preset's ε, for one question or for all of them. @param {number} questions */
export function applyPreset(questions) {
  const total = PRESETS[fields.preset.value];
  if (!total) return;
  const sharing = fields.unit.value === "worker" ? 1 : Math.max(1, questions);
  fields.epsilon.value = String(roundedDown(total / sharing));
}

/** To three digits, so that the total is never above the preset's. */
function roundedDown(value) {
  const unit = 10 ** (Math.floor(Math.log10(value)) - 2);
  return Number((Math.floor(value / unit + 1e-9) * unit).toPrecision(3));
}

/**
 * Ask what to expect, when nobody has typed for a moment.
 * @param {any} order the part of a campaign that matters; null as long as it is not complete
 */
export function plan(order) {
  const workers = Number(fields.people.value);
  const density = Number(fields.density.value) / 100;
  const complete = order && Number.isInteger(workers) && workers > 0 && density > 0 && density <= 1;
  const wanted = complete ? { ...order, workers, density } : null;
  const text = JSON.stringify(wanted);
  if (text === asked) return;
  asked = text;
  clearTimeout(timer);
  if (!wanted) return say("Add questions, and say what kind they are.");
  timer = setTimeout(ask, PAUSE, wanted, text);
}

async function ask(order, text) {
  if (byId("new").hidden) {
    asked = "";
    return;
  }
  try {
    const found = await call("", order, "POST", "v1/plan");
    if (text === asked) show(order, found);
  } catch (error) {
    if (text === asked) say(`There is no estimate: ${error.message}`);
  }
}

function say(text) {
  byId("plan").classList.remove("warn");
  byId("plan-answer").textContent = text;
  byId("plan-more").textContent = "";
  byId("plan-assumed").replaceChildren();
}

function show(order, found) {
  const { expected, constant_error, needed } = found;
  if (expected.length === 0) {
    return say(`There is no quick estimate for ${order.mechanism} on this scale; forsooth plan has one.`);
  }
  const [now, ...others] = expected;
  const off = inWords(found);
  byId("plan").classList.toggle("warn", !now.useful);
  byId("plan-answer").textContent = `With ${people(now.workers)} expect ${off(now.error)}.`;
  byId("plan-more").textContent = [
    `${others.map(({ workers, error }) => `${people(workers)} would give ${off(error)}`).join(", ")}.`,
    ...(now.useful ? [] : [tooFew(needed, off(constant_error))]),
  ].join(" ");
  byId("plan-assumed").replaceChildren(
    ...assumptions(order, found).map((sentence) => element("li", {}, sentence)),
  );
}

function tooFew(needed, guess) {
  const many = needed ? `about ${people(needed)}` : "more than 100,000 people";
  return (
    `That is hardly better than guessing the same for every question (${guess}): ${many} are ` +
    "needed for a clear difference."
  );
}

function people(number) {
  return number === 1 ? "1 person" : `${shown(number)} people`;
}

/** How an error is written: as a share where there are two answers. */
function inWords({ estimand, answers, low, high }) {
  if (answers > 2) return (error) => `± ${digits(error)}`;
  const percent = (error) => digits((100 * error) / (high - low));
  return estimand === "label"
    ? (error) => `${percent(error)} % wrong answers`
    : (error) => `± ${percent(error)} percentage points`;
}

/** What the numbers rest on, in sentences. */
function assumptions({ mechanism, unit, sampled, tasks }, found) {
  const { estimand, answers, low, high, noise, density, largest_ratio } = found;
  const what = estimand === "opinion" ? "the mean answer" : "the true value";
  const scale = `on the scale from ${shown(low)} to ${shown(high)}`;
  return [
    answers > 2
      ? `± is how far an estimate is expected to be from ${what}, ${scale}, on average over the questions. ` +
        "A 90 % interval is about four times as wide."
      : "The error is an average over the questions.",
    estimand === "opinion"
      ? `Answers of different people to one question differ by about ${digits(noise)}, and mean answers lie anywhere on the scale.`
      : `People err by about ${digits(noise)}, and right answers lie anywhere on the scale.`,
    `People answer ${digits(100 * density)} % of the questions they are asked.`,
    `Simulated campaigns were off by up to ${largest_ratio} times as much, since the service must learn all this from the reports.`,
    ...(unit === "worker" ? [`Each person is asked ${shown(sampled)} of ${shown(tasks)} questions.`] : []),
    ...(mechanism === "adaptive" ? ["Estimated as rr, with which the campaign begins."] : []),
  ];
}

/** Two digits that count. */
function digits(value) {
  return shown(Number(value.toPrecision(2)), 6);
}
