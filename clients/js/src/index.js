/** forsooth-client: what a worker runs. Nothing but a verified, perturbed report leaves the device. */
export { Campaign } from "./campaign.js";
export { secureCoins } from "./coins.js";
export { ForsoothError } from "./error.js";
export { QUESTION_CAP, TOTAL_CAP } from "./memory.js";
export { chance, odds, strength } from "./odds.js";
export { inWords } from "./promise.js";
export { encode, makeReport } from "./report.js";
export { browserStore, memoryStore } from "./store.js";
export { readMechanism, verify } from "./verify.js";
