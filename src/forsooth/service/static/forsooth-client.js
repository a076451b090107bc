/*! forsooth-client 0.1.0 | Apache-2.0 | made from clients/js/src by build.mjs */

// error.js
/** The one error that is meant for people: what was wrong, where, what to do. */
class ForsoothError extends Error {
  constructor(message, code = "refused") {
    super(message);
    this.name = "ForsoothError";
    this.code = code;
  }
}

// bytes.js
/** Bytes as text, text as bytes, and their fingerprint. */

async function sha256(bytes) {
  if (!globalThis.crypto?.subtle) {
    throw new ForsoothError(
      "this page must be opened over https: the browser offers no SHA-256 here",
    );
  }
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

async function sha256Hex(text) {
  return hex(await sha256(new TextEncoder().encode(text)));
}

function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function base64(bytes) {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

function fromBase64(text) {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    throw new ForsoothError("this is not base64");
  }
}

function base64url(bytes) {
  return base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * UTF-8 without repairs and without leaving anything out.
 */
function decodeText(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ForsoothError("this is not a text in UTF-8");
  }
}

// json.js
/**
 * JSON from strangers: nothing is guessed and nothing is lost.
 *
 * `JSON.parse` reads 1.0 as the integer 1, rounds long integers and lets the last of two equal keys
 * win, so that two clients could read two mechanisms from one text. Here an integer becomes a
 * BigInt, any other number a Number, an object a Map; equal keys are refused.
 */


const DEEPEST = 64;
const MOST_DIGITS = 4300; // where Python stops reading an integer, too
const LARGEST = 2n ** 62n; // what 64-bit arithmetic holds with room for a sign and a sum
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPES = new Map(
  Object.entries({ '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }),
);
const CONSTANTS = ([
  ["null", null],
  ["true", true],
  ["false", false],
]);

function parseJson(text) {
  let at = 0;
  const value = read(0);
  space();
  if (at < text.length) fail();
  return value;

  function fail() {
    throw new ForsoothError(`this is not valid JSON (at character ${at})`);
  }

  function space() {
    while (" \t\n\r".includes(text.charAt(at) || "x")) at++;
  }

  function eat(character) {
    space();
    if (text[at] !== character) return false;
    at++;
    return true;
  }

  function match(pattern) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    at += found?.[0].length ?? 0;
    return found;
  }

  function read(depth) {
    if (depth > DEEPEST) fail();
    if (eat("{")) return object(depth + 1);
    if (eat("[")) return list(depth + 1);
    if (eat('"')) return string();
    for (const [word, value] of CONSTANTS) {
      if (text.startsWith(word, at)) {
        at += word.length;
        return value;
      }
    }
    return number();
  }

  function object(depth) {
    const members = new Map();
    if (eat("}")) return members;
    do {
      if (!eat('"')) fail();
      const key = string();
      if (members.has(key))
        throw new ForsoothError(`the key ${shown(key)} stands twice in one object`);
      if (!eat(":")) fail();
      members.set(key, read(depth));
    } while (eat(","));
    if (!eat("}")) fail();
    return members;
  }

  function list(depth) {
    const items = [];
    if (eat("]")) return items;
    do items.push(read(depth));
    while (eat(","));
    if (!eat("]")) fail();
    return items;
  }

  function string() {
    let value = "";
    for (;;) {
      value += match(PLAIN)?.[0] ?? "";
      if (text[at] === '"') {
        at++;
        return value;
      }
      if (text[at] !== "\\") fail();
      const hex = /^u([0-9a-fA-F]{4})/.exec(text.slice(at + 1, at + 6));
      const escaped = hex ? String.fromCharCode(parseInt(hex[1], 16)) : ESCAPES.get(text[at + 1]);
      if (escaped === undefined) fail();
      value += escaped;
      at += hex ? 6 : 2;
    }
  }

  function number() {
    const found = match(NUMBER);
    if (!found) fail();
    const [digits, fraction, exponent] = found;
    if (fraction !== undefined || exponent !== undefined) return Number(digits);
    if (digits.length > MOST_DIGITS) fail();
    return BigInt(digits);
  }
}

function anObject(value, what) {
  if (!(value instanceof Map))
    throw new ForsoothError(`${what} must be an object, got ${shown(value)}`);
  return value;
}

function aList(value, what) {
  if (!Array.isArray(value)) throw new ForsoothError(`${what} must be a list, got ${shown(value)}`);
  return value;
}

/**
 * An integer within bounds. 1.0 is not one.
 */
function anInteger(value, what, low = -LARGEST, high = LARGEST) {
  if (typeof value !== "bigint" || value < low || value > high) {
    throw new ForsoothError(
      `${what} must be an integer from ${low} to ${high}, got ${shown(value)}`,
    );
  }
  return value;
}

/**
 * A finite number.
 */
function aNumber(value, what) {
  const number = typeof value === "bigint" || typeof value === "number" ? Number(value) : NaN;
  if (!Number.isFinite(number)) {
    throw new ForsoothError(`${what} must be a finite number, got ${shown(value)}`);
  }
  return number;
}

function aText(value, what) {
  if (typeof value !== "string")
    throw new ForsoothError(`${what} must be a text, got ${shown(value)}`);
  return value;
}

/**
 * A list of distinct texts.
 */
function texts(value, what) {
  const listed = aList(value, what).map((item) => aText(item, what));
  if (new Set(listed).size < listed.length)
    throw new ForsoothError(`${what}: the same name stands twice`);
  return listed;
}

function aTruth(value, what) {
  if (typeof value !== "boolean")
    throw new ForsoothError(`${what} must be true or false, got ${shown(value)}`);
  return value;
}

/**
 * A value for a message: short, whatever it is.
 */
function shown(value) {
  let text = typeof value === "string" ? JSON.stringify(value) : String(value);
  if (value instanceof Map) text = "an object";
  else if (Array.isArray(value)) text = "a list";
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`;
}

// exact.js
/**
 * Exact arithmetic behind every promise: rationals of BigInts, exponentials between two bounds, and
 * logarithms rounded up to a float. Nothing here trusts Math.exp or Math.log, which every browser
 * may round as it likes.
 */


const FAR = 64n; // e^±64 is beyond every ratio that 32-bit weights can have
const FIRST_BITS = 128n;
const FINE = 8; // a series is summed for numbers below 2^−8
const bitsOf = new DataView(new ArrayBuffer(8));

/**
 * A float as the rational number that it is.
 */
function fractionOf(float) {
  bitsOf.setFloat64(0, float);
  const pattern = bitsOf.getBigUint64(0);
  const exponent = pattern >> 52n;
  const mantissa = (pattern & (2n ** 52n - 1n)) | (exponent ? 2n ** 52n : 0n);
  const power = (exponent || 1n) - 1075n;
  return power < 0n ? { n: mantissa, d: 1n << -power } : { n: mantissa << power, d: 1n };
}

/**
 * The least float from 0 to `high` that passes a test which all larger ones pass too.
 *
 * The bit patterns of floats that are not negative are ordered as the floats are: halving the
 * interval of patterns finds it in at most 63 steps.
 */
function leastFloat(passes, high) {
  bitsOf.setFloat64(0, high);
  let failing = -1n;
  let passing = bitsOf.getBigUint64(0);
  while (passing - failing > 1n) {
    const middle = (passing + failing) >> 1n;
    if (passes(floatOf(middle))) passing = middle;
    else failing = middle;
  }
  return floatOf(passing);
}

function floatOf(pattern) {
  bitsOf.setBigUint64(0, pattern);
  return bitsOf.getFloat64(0);
}

/**
 * The float that is not below an exact number (not negative, at most `Number.MAX_VALUE`).
 */
function floatAbove(number) {
  return leastFloat((float) => {
    const { n, d } = fractionOf(float);
    return n * number.d >= number.n * d;
  }, Number.MAX_VALUE);
}

/**
 * A float times a whole number as a float, never below the true value.
 */
function timesAbove(float, count) {
  const { n, d } = fractionOf(float);
  return floatAbove({ n: n * BigInt(count), d });
}

/**
 * ln(larger / smaller) as a float, never below the true value.
 */
function logRatio(larger, smaller) {
  if (larger === smaller) return 0;
  return logAbove((bits) => {
    const quotient = (BigInt(larger) << bits) / BigInt(smaller);
    return [quotient, quotient + 1n];
  }, Number(FAR));
}

/**
 * shift + ln(r) as a float, never below the true value, for an r that is no power of e.
 */
function logAbove(r, high, shift = { n: 0n, d: 1n }) {
  return leastFloat((float) => logIsAtMost(float, r, shift), high);
}

/**
 * Is shift + ln(r) ≤ float? e^x is irrational for rational x ≠ 0: enough bits always settle it.
 */
function logIsAtMost(float, r, shift) {
  const { n, d } = fractionOf(float);
  const exponent = { n: n * shift.d - shift.n * d, d: d * shift.d };
  if (exponent.n > FAR * exponent.d) return true;
  if (exponent.n < -FAR * exponent.d) return false;
  for (let bits = FIRST_BITS; ; bits *= 2n) {
    const [low, high] = expBounds(exponent, bits);
    const [least, most] = r(bits);
    if (low >= most) return true;
    if (high < least) return false;
  }
}

/**
 * e^x lies between these two integers, divided by 2^bits.
 *
 * e^x = (e^(x / 2^k))^(2^k): the series of a small number with every term rounded down and up,
 * then k squarings.
 */
function expBounds(x, bits) {
  if (x.n < 0n) {
    if (-x.n > bits * x.d) return [0n, 1n]; // e^−bits < 2^−bits
    const [low, high] = expBounds({ n: -x.n, d: x.d }, bits);
    const one = 1n << (2n * bits);
    return [one / high, one / low + 1n];
  }
  const whole = x.n / x.d;
  const halvings = BigInt(whole.toString(2).length + FINE);
  const work = bits + 2n * whole + halvings + 16n;
  const leastX = (x.n << work) / (x.d << halvings);
  let [low, high] = [1n << work, 1n << work];
  let [leastTerm, mostTerm] = [low, high];
  for (let k = 1n; mostTerm > 2n; k++) {
    leastTerm = ((leastTerm * leastX) >> work) / k;
    mostTerm = (((mostTerm * (leastX + 1n)) >> work) + 1n) / k + 1n;
    low += leastTerm;
    high += mostTerm;
  }
  high += mostTerm; // the terms left out are each less than half of the one before
  for (let k = 0n; k < halvings; k++) {
    low = (low * low) >> work;
    high = ((high * high) >> work) + 1n;
  }
  return [low >> (work - bits), (high >> (work - bits)) + 1n];
}

// scale.js
/** Γ, the answer scale: an ordered, finite set of answers. */

const MOST_ANSWERS = 1001;
const WIDEST = 1e9; // of its smallest steps
const DECIMAL =
  /^[-+]?(?:\d(?:_?\d)*(?:\.(?:\d(?:_?\d)*)?)?|\.\d(?:_?\d)*)(?:[eE][-+]?\d(?:_?\d)*)?$/;

/** If every label is a number, the numbers are its values; otherwise 0, 1, 2, … */
class Scale {
  constructor(json) {
    this.labels = texts(json, "scale");
    const numbers = this.labels.map(numberOf);
    this.isNumeric = numbers.every(Number.isFinite);
    this.values = this.isNumeric ? numbers : this.labels.map((_, position) => position);
    this.#check();
  }

  #check() {
    const { labels, values } = this;
    if (labels.length < 2 || labels.length > MOST_ANSWERS || labels.includes("")) {
      throw new ForsoothError(`a scale has from 2 to ${MOST_ANSWERS} answers, none of them empty`);
    }
    const finest = Math.min(...values.slice(1).map((value, before) => value - values[before]));
    if (!(finest > 0)) throw new ForsoothError("a scale's numbers must increase");
    const reach = Math.max(Math.abs(this.low), Math.abs(this.high));
    if (reach > WIDEST * finest || finest < 1 / WIDEST) {
      throw new ForsoothError(`a scale may be at most ${WIDEST} of its smallest steps wide`);
    }
  }

  /** How many answers there are; also the code of NULL ("did not answer"). */
  get size() {
    return this.labels.length;
  }

  get low() {
    return this.values[0];
  }

  get high() {
    return this.values[this.size - 1];
  }

  /**
   * The position of an answer: a label, or the number that it stands for.
   */
  code(answer, where) {
    let code = -1;
    if (typeof answer === "string") code = this.labels.indexOf(answer);
    else if (typeof answer === "number" && this.isNumeric) code = this.values.indexOf(answer);
    if (code < 0) {
      throw new ForsoothError(`${where}: ${shown(answer)} is not on the scale ${this}`, "input");
    }
    return code;
  }

  /**
   * The label that stands for exactly this number, if there is one.
   */
  labelOf(value) {
    return this.labels[this.values.indexOf(value)] ?? null;
  }

  toString() {
    const { labels } = this;
    return labels.length <= 12
      ? labels.join(", ")
      : `${labels[0]}, ${labels[1]}, …, ${labels[labels.length - 1]}`;
  }
}

/**
 * A label as Python reads it with float(): digits of any script, underscores between digits.
 */
function numberOf(label) {
  const text = label.trim().replace(/\p{Nd}/gu, digitOf);
  return DECIMAL.test(text) ? Number(text.replaceAll("_", "")) : NaN;
}

/**
 * Every script's digits stand in runs of ten: the place in the run is the digit.
 */
function digitOf(character) {
  let before = 0;
  const point = character.codePointAt(0) ?? 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(point - before - 1))) before++;
  return String(before % 10);
}

// mechanism.js
/** What every mechanism is: public data that says how a worker turns answers into a report. */


/**
 * The exact ε for each kind of neighbours, rounded up. Value neighbours differ in one answer,
 * participation neighbours in whether it was given (Infinity where that is public).
 */

const LARGEST_EPSILON = 1e6;
const PROTECTS = ["answers+participation", "answers"];

class Mechanism {
  constructor(json) {
    this.name = aText(json.get("name"), "name");
    this.scale = new Scale(json.get("scale"));
    this.epsilon = checkEpsilon(aNumber(json.get("epsilon"), "ε"));
    this.protects = checkProtects(json.get("protects"));
  }

  get exact() {
    throw new Error("a mechanism knows its exact ε");
  }

  /**
   * How many bits a value takes in the report.
   */
  get bits() {
    throw new Error("a mechanism knows how it writes a value");
  }

  /**
   * "rows": every worker sends equally many values, whatever was answered; "cells": one value for
   * every answered cell, where participation is public.
   */
  get layout() {
    return this.protects === "answers+participation" ? "rows" : "cells";
  }

  get cell() {
    return this;
  }

  get cells() {
    return null;
  }

  /**
   * ε for everything one worker says, at most; rounded up.
   */
  total(tasks) {
    return this.cells === null ? timesAbove(this.epsilon, tasks) : this.epsilon;
  }

  /**
   * The tasks that can influence a worker's report, in order: all, unless a public rule chooses.
   */
  async eligible(tasks, _worker) {
    return [...new Array(tasks).keys()];
  }

  /** Does every cell have a value of its own in the report? */
  get isCellwise() {
    return true;
  }

  /**
   * The values that leave the worker.
   */
  randomise(_codes, _coins, _worker) {
    throw new Error("a mechanism can randomise");
  }

  /**
   * The number as which a reported value is read, null where it is read as NULL.
   */
  reading(_value) {
    throw new Error("a mechanism can read what it sends");
  }

  /**
   * The answers (null: NULL) that send a value most often; null where values are numbers with noise.
   */
  likeliest(_value) {
    return null;
  }
}

function checkEpsilon(epsilon) {
  if (!(typeof epsilon === "number" && epsilon > 0 && epsilon <= LARGEST_EPSILON)) {
    const most = LARGEST_EPSILON;
    throw new ForsoothError(`ε must be above 0 (and at most ${most}), got ${shown(epsilon)}`);
  }
  return epsilon;
}

function checkProtects(protects) {
  if (!PROTECTS.includes(aText(protects, "protects"))) {
    throw new ForsoothError(
      `protects must be one of ${PROTECTS.join(", ")}; got ${shown(protects)}`,
    );
  }
  return (protects);
}

// panel.js
/**
 * A panel (Prolific, MTurk, …): it sends its people to the link with their id, and pays those who come
 * back. The service gets a keyed hash of the id instead, so that an id can report once.
 */


const LOOPBACK = ["localhost", "127.0.0.1"];

function parsePanel(json) {
  if (json === undefined || json === null) return null;
  const panel = anObject(json, "panel");
  const text = (name) => {
    const value = panel.get(name) ?? null;
    return value === null ? null : aText(value, name);
  };
  return {
    parameter: aText(panel.get("parameter"), "parameter"),
    completionCode: text("completion_code"),
    completionUrl: checkedUrl(text("completion_url")),
    closedUrl: checkedUrl(text("closed_url")),
  };
}

/**
 * The token of the person whom the panel sent; null if their id does not stand in the address, neither
 * after ? nor after #. HMAC-SHA-256 with the campaign's public id as its key: tokens of two campaigns
 * have nothing in common, but somebody who knows an id can compute its token.
 */
async function panelToken(url, { parameter }) {
  const { searchParams, hash, pathname } = new URL(url, globalThis.location?.href);
  const campaign = pathname.replace(/\/$/, "").split("/").at(-1) ?? "";
  const id = new URLSearchParams(hash.slice(1)).get(parameter) || searchParams.get(parameter);
  if (!id) return null;
  const [secret, message] = [campaign, id].map((text) => new TextEncoder().encode(text));
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", secret, hmac, false, ["sign"]);
  return `open-${base64url(new Uint8Array(await crypto.subtle.sign("HMAC", key, message)))}`;
}

function idIsMissing(parameter) {
  return new ForsoothError(
    `this survey is for people whom a panel sends: open it from there. Its address has no ${parameter}`,
    "input",
  );
}

/**
 * An address to go to; never one that is a program.
 */
function checkedUrl(text) {
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  const isSafe = url?.protocol === "https:" || LOOPBACK.includes(url?.hostname ?? "");
  if (!isSafe || !/^https?:$/.test(url?.protocol ?? ""))
    throw new ForsoothError("refused: the panel's address does not begin with https://");
  return text;
}

// presentation.js
/** How a campaign is presented: texts, a logo, words for the ends of the scale, the order, pages. */


const PICTURES = ["image/png", "image/jpeg", "image/webp"];

function parsePresentation(json) {
  const given = anObject(json ?? new Map(), "presentation");
  const text = (name) => aText(given.get(name) ?? "", name);
  const perPage = given.get("per_page") ?? null;
  return {
    introduction: text("introduction"),
    consent: text("consent"),
    thanks: text("thanks"),
    logo: logoOf(given.get("logo") ?? null),
    ends: endsOf(given.get("ends") ?? null),
    shuffled: aTruth(given.get("shuffled") ?? false, "shuffled"),
    perPage: perPage === null ? null : Number(anInteger(perPage, "per_page", 1n)),
  };
}

/**
 * A picture as a data: URL, which is the one that the campaign names.
 */
async function fetchLogo(network, address, { digest, type }) {
  const options = ({ credentials: "omit", redirect: "error" });
  const response = await network.fetch(`${address}/logos/${digest}`, options);
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (hex(await sha256(bytes)) !== digest)
    throw new ForsoothError("the logo is not the one that the campaign names (its SHA-256 differs)");
  return `data:${type};base64,${base64(bytes)}`;
}

function logoOf(json) {
  if (json === null) return null;
  const logo = anObject(json, "logo");
  const digest = aText(logo.get("digest"), "digest");
  const type = aText(logo.get("media_type"), "media_type");
  if (!/^[0-9a-f]{64}$/.test(digest) || !PICTURES.includes(type))
    throw new ForsoothError("refused: the logo has no SHA-256, or is no PNG, JPEG or WebP");
  return { digest, type };
}

function endsOf(json) {
  if (json === null) return null;
  const words = aList(json, "ends").map((word) => aText(word, "ends"));
  if (words.length !== 2) throw new ForsoothError("ends must be two texts");
  return [words[0], words[1]];
}

// service.js
/** Talking to the collection service: the same bytes again until it has answered. */


const internet = {
  fetch: (url, options) => fetch(url, options),
  wait: (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds)),
};

const ATTEMPTS = 6;
const LONGEST_WAIT = 60; // seconds
const PATIENCE = 30_000; // milliseconds for one attempt

/**
 * One request, repeated as it is while the network fails or the service is busy.
 */
async function request(network, url, body) {
  let failure = "no answer";
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    let pause = 2 ** attempt;
    try {
      const response = await network.fetch(url, {
        ...optionsFor(body),
        signal: AbortSignal.timeout(PATIENCE),
      });
      const text = decodeText(await response.arrayBuffer());
      if (response.ok) return { status: response.status, text };
      if (response.status < 500 && response.status !== 429) throw complaint(response.status, text);
      failure = `status ${response.status}`;
      pause = Number(response.headers.get("Retry-After") ?? NaN) || pause;
    } catch (error) {
      if (error instanceof ForsoothError) throw error;
      failure = error instanceof Error ? error.message : String(error);
    }
    if (attempt + 1 < ATTEMPTS) await network.wait(Math.min(pause, LONGEST_WAIT));
  }
  throw new ForsoothError(
    `the service cannot be reached (${failure}). Try again later: the same report will be sent`,
    "unreachable",
  );
}

function optionsFor(body) {
  const common = { credentials: "omit", referrerPolicy: "no-referrer", redirect: "error" };
  if (body === undefined) return common;
  return {
    ...common,
    method: "POST",
    body,
    cache: "no-store",
    headers: { "Content-Type": "application/json" },
  };
}

/**
 * The service's own words where it has any.
 */
function complaint(status, text) {
  let detail;
  try {
    detail = (parseJson(text)).get("detail");
  } catch {
    // a proxy's page, perhaps; the status is all there is
  }
  const [message, code] = detail instanceof Map ? [detail.get("message"), detail.get("error")] : [];
  return new ForsoothError(
    typeof message === "string" ? message : `the service refused the request (status ${status})`,
    typeof code === "string" ? code : `status-${status}`,
  );
}

// about.js
/** What a link and a service say of a campaign, read as strictly as a mechanism. */


/**
 * The campaign's address in the API, always written in one way, the token after # and, of an anonymous
 * campaign, the digest after ?d= if they are there.
 */
function parseLink(url) {
  let parsed;
  try {
    parsed = new URL(url, globalThis.location?.href);
  } catch {
    throw new ForsoothError(`this is not the address of a campaign: ${url}`, "input");
  }
  const found = /^(.*)\/(?:c|v1\/campaigns)\/([^/]+)\/?$/.exec(parsed.pathname);
  if (!found) throw new ForsoothError(`this is not the address of a campaign: ${url}`, "input");
  const token = parsed.hash.slice(1) || undefined;
  parsed.hostname = parsed.hostname.replace(/\.$/, ""); // the same host, with its root's dot
  const digest = parsed.searchParams.get("d") ?? undefined;
  return { address: `${parsed.origin}${found[1]}/v1/campaigns/${found[2]}`, token, digest };
}

function parseAbout(json) {
  const scale = anObject(json.get("scale"), "scale");
  const tasks = aList(json.get("tasks"), "tasks").map((item) => {
    const task = anObject(item, "a task");
    const image = task.get("image") ?? null;
    const section = task.get("section") ?? null;
    return {
      id: aText(task.get("id"), "a task's id"),
      text: aText(task.get("text"), "a task's text"),
      image: image === null ? null : aText(image, "a task's image"),
      section: section === null ? null : aText(section, "a task's section"),
    };
  });
  texts(
    tasks.map((task) => task.id),
    "tasks",
  );
  if (tasks.length === 0) throw new ForsoothError("this campaign has no tasks");
  const values = texts(scale.get("values"), "the scale's values");
  const labels = aList(scale.get("labels"), "labels").map((label) => aText(label, "a label"));
  if (labels.length !== values.length)
    throw new ForsoothError("every answer of the scale needs a label");
  return {
    title: aText(json.get("title"), "title"),
    description: aText(json.get("description") ?? "", "description"),
    presentation: parsePresentation(json.get("presentation")),
    tasks,
    values,
    labels,
    epsilon: aNumber(json.get("epsilon"), "ε"),
    unit: aText(json.get("unit") ?? "cell", "unit"),
    protects: checkProtects(json.get("protects")),
    design: aText(json.get("design"), "design"),
    invitationRequired: aTruth(json.get("invitation_required"), "invitation_required"),
    closed: aTruth(json.get("closed"), "closed"),
    life: lifeOf(json.get("state") ?? (json.get("closed") ? "closed" : "open")),
    retentionDays: optional(json.get("retention_days"), "retention_days"),
    panel: parsePanel(json.get("panel")),
  };
}

function lifeOf(state) {
  if (state === "draft" || state === "open" || state === "paused" || state === "closed") return state;
  throw new ForsoothError("state must be draft, open, paused or closed");
}

function optional(value, name) {
  return value === undefined || value === null ? null : aNumber(value, name);
}

/**
 * The text of a design, which is named by its SHA-256.
 */
async function fetchDesign(network, address, design) {
  if (!/^[0-9a-f]{64}$/.test(design))
    throw new ForsoothError("refused: the design's name is no SHA-256");
  const { text } = await request(network, `${address}/designs/${design}`);
  if ((await sha256Hex(text)) !== design) {
    throw new ForsoothError(
      "refused: the mechanism is not the one that the campaign names (its SHA-256 differs)",
    );
  }
  return text;
}

// blind.js
/**
 * RSA blind signatures (RFC 9474), RSABSSA-SHA384-PSS-Randomized: the worker's side.
 *
 * This device blinds a message, the issuer signs what it cannot read, and this device takes the
 * blinding away. The blinded message is uniformly random whatever the message is, so that not even
 * unlimited computing power links a signature to the request that it came from. The message is the
 * campaign's digest with 32 random bytes in front, the serial. forsooth's Python has the same.
 *
 * Whole numbers of any length take time that depends on them. What is secret here is this device's
 * own and used once, and nobody else can measure it.
 */


const SCHEME = "RSABSSA-SHA384-PSS-Randomized";
const EXPONENT = 65537n;
const EXPONENT_TEXT = "AQAB"; // the same in base64url
const SERIAL_BYTES = 32; // the random prefix of RFC 9474
const SALT_BYTES = 48; // as long as the hash: PSS, not PSSZERO
const HASH_BYTES = 48;
const [FEWEST_BITS, MOST_BITS] = [2048, 4096];

/**
 * Read the key that a campaign announces; one that this client does not understand is refused.
 */
function readIssuingKey(json) {
  const data = anObject(json, "the issuing key");
  const text = aText(data.get("n"), "the issuing key");
  const content = fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
  const n = integerOf(content);
  const bits = n.toString(2).length;
  const isOurs =
    data.size === 3 &&
    data.get("scheme") === SCHEME &&
    data.get("e") === EXPONENT_TEXT &&
    base64url(bytesOf(n, Math.ceil(bits / 8))) === text;
  if (!isOurs || bits < FEWEST_BITS || bits > MOST_BITS || n % 2n === 0n) {
    throw new ForsoothError(
      `refused: the issuing key must be for ${SCHEME}, with e = ${EXPONENT} and ${FEWEST_BITS} to ` +
        `${MOST_BITS} bits`,
    );
  }
  return { n, size: Math.ceil(bits / 8) };
}

/** A random serial, as it is sent: 43 letters, digits, - or _. */
function newSerial() {
  return base64url(crypto.getRandomValues(new Uint8Array(SERIAL_BYTES)));
}

/**
 * The message that is signed.
 */
function prepareToken(serial, digest) {
  const prefix = fromBase64(serial.replaceAll("-", "+").replaceAll("_", "/"));
  return joined(prefix, bytesOf(BigInt(`0x${digest}`), digest.length / 2));
}

/**
 * What the issuer is to sign, and the inverse that takes the blinding away.
 */
async function blindToken(key, prepared) {
  for (;;) {
    const r = numberBelow(key);
    const inverse = inverseOf(r, key.n);
    if (inverse === null) continue; // it shares a factor with n, which happens practically never
    const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
    return { blinded: blindedWith(key, await encodePss(key, prepared, salt), r), inverse };
  }
}

/**
 * An encoded message under the blinding factor r.
 */
function blindedWith({ n, size }, message, r) {
  return bytesOf((integerOf(message) * power(r, EXPONENT, n)) % n, size);
}

/**
 * The signature of the message, from the signature of the blinded message.
 */
function unblinded({ n, size }, signed, inverse) {
  return bytesOf((integerOf(signed) * inverse) % n, size);
}

/**
 * The signature, which is checked: an issuer that signed something else is found out.
 */
async function finishToken(key, prepared, signed, inverse) {
  const signature = unblinded(key, signed, inverse);
  if (signed.length !== key.size || !(await verifies(key, signature, prepared))) {
    throw new ForsoothError(
      "refused: the service did not sign with the key that the campaign announces",
    );
  }
  return signature;
}

async function verifies({ n, size }, signature, prepared) {
  const jwk = { kty: "RSA", n: base64url(bytesOf(n, size)), e: EXPONENT_TEXT };
  const pss = { name: "RSA-PSS", hash: "SHA-384" };
  const key = await crypto.subtle.importKey("jwk", jwk, pss, false, ["verify"]);
  const how = { name: "RSA-PSS", saltLength: SALT_BYTES };
  return crypto.subtle.verify(how, key, signature, prepared);
}

/**
 * EMSA-PSS (RFC 8017, 9.1.1) with SHA-384.
 */
async function encodePss({ n }, prepared, salt) {
  const bits = n.toString(2).length - 1;
  const length = Math.ceil(bits / 8);
  const hashed = await sha384(joined(new Uint8Array(8), await sha384(prepared), salt));
  const block = new Uint8Array(length - HASH_BYTES - 1);
  block.set([1], block.length - salt.length - 1);
  block.set(salt, block.length - salt.length);
  const mask = await mgf1(hashed, block.length);
  const masked = block.map((byte, place) => byte ^ mask[place]);
  masked[0] &= 0xff >> (8 * length - bits);
  return joined(masked, hashed, Uint8Array.of(0xbc));
}

async function mgf1(seed, length) {
  const blocks = [];
  for (let block = 0; block * HASH_BYTES < length; block++)
    blocks.push(await sha384(joined(seed, Uint8Array.of(0, 0, 0, block))));
  return joined(...blocks).slice(0, length);
}

async function sha384(content) {
  return new Uint8Array(await crypto.subtle.digest("SHA-384", content));
}

/**
 * Uniform from 1 to n − 1: what is larger is drawn again.
 */
function numberBelow({ n, size }) {
  for (;;) {
    const drawn = integerOf(crypto.getRandomValues(new Uint8Array(size)));
    if (drawn > 0n && drawn < n) return drawn;
  }
}

function power(base, exponent, n) {
  let [result, square] = [1n, base % n];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % n;
    square = (square * square) % n;
  }
  return result;
}

/**
 * The inverse modulo n, or null: Euclid's algorithm.
 */
function inverseOf(number, n) {
  let [large, small, before, now] = [n, number % n, 0n, 1n];
  while (small > 0n) {
    const times = large / small;
    [large, small] = [small, large - times * small];
    [before, now] = [now, before - times * now];
  }
  if (large !== 1n) return null;
  return before < 0n ? before + n : before;
}

function integerOf(content) {
  return BigInt(`0x${hex(content) || "0"}`);
}

function bytesOf(number, size) {
  const digits = number.toString(16).padStart(2 * size, "0");
  return Uint8Array.from({ length: size }, (_, place) =>
    parseInt(digits.slice(2 * place, 2 * place + 2), 16),
  );
}

function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let place = 0;
  for (const part of parts) {
    whole.set(part, place);
    place += part.length;
  }
  return whole;
}

// anonymous.js
/**
 * Anonymous campaigns: check what is announced to everybody, get a token, wait for a random time.
 *
 * The link has the digest of the campaign's document. What the document says is the same for everybody
 * who has a link with this digest: the questions, the mechanism, and the one key that signs tokens.
 */


/** Seconds: a report is sent at a random time within the ten minutes after its token. */
const DELAY = 600;
const WORD_VALUES = 2 ** 32;

/**
 * A campaign with what its document says in place of what its service says.
 */
async function announcedIn(view, address, digest) {
  const given = view.get("anonymous") ?? null;
  if (given === null && digest === undefined) return { view, announced: null };
  if (given === null || digest === undefined) {
    const missing = given === null ? "its service does not say so" : "the link has no ?d=…";
    throw new ForsoothError(
      `refused: this campaign is anonymous, but ${missing}. Open the whole link that you were sent`,
    );
  }
  const text = aText(anObject(given, "anonymous").get("document"), "document");
  if ((await sha256Hex(text)) !== digest) {
    throw new ForsoothError(
      "refused: the campaign or its issuing key is not the one that the link names (the digest of " +
        "its document differs)",
    );
  }
  const document = anObject(parseJson(text), "the document");
  if (document.get("id") !== address.slice(address.lastIndexOf("/") + 1)) {
    throw new ForsoothError("refused: the document is that of another campaign");
  }
  const batch = Number(anInteger(document.get("batch"), "batch", 1n));
  const key = readIssuingKey(document.get("issuing_key"));
  return { view: new Map([...view, ...document]), announced: { digest, key, batch } };
}

/**
 * A token, blinded; it is kept before anything is sent, so that there is one only.
 */
async function blindingOf({ key, digest }, serial, invitation) {
  const { blinded, inverse } = await blindToken(key, prepareToken(serial, digest));
  return { invitation, blinded: base64(blinded), inverse: inverse.toString(16), due: null };
}

/**
 * The report with its signed token, to be sent at a random time.
 */
async function withToken(network, address, { key, digest }, kept, delay) {
  const own = kept.anonymous;
  if (!own || own.blinded === null || own.inverse === null) return kept;
  const asked = JSON.stringify({ invitation: own.invitation, blinded: own.blinded });
  const { text } = await request(network, `${address}/signatures`, asked);
  const answer = anObject(parseJson(text), "the service's answer").get("signature");
  const prepared = prepareToken(kept.invitation, digest);
  const signed = fromBase64(aText(answer, "signature"));
  const signature = await finishToken(key, prepared, signed, BigInt(`0x${own.inverse}`));
  const body = { ...JSON.parse(String(kept.body)), signature: base64(signature) };
  const [word] = crypto.getRandomValues(new Uint32Array(1));
  const due = Math.floor(Date.now() / 1000 + (delay * word) / WORD_VALUES);
  const anonymous = { invitation: own.invitation, blinded: null, inverse: null, due };
  return { ...kept, body: JSON.stringify(body), anonymous };
}

/**
 * How long a report still waits for its random time, in seconds.
 */
function secondsLeft({ anonymous }) {
  return Math.max(0, (anonymous?.due ?? 0) - Date.now() / 1000);
}

// coins.js
/** Where the coins come from: the browser's or Node's cryptographic generator, nothing else. */


const MOST_WORDS = 65536 / 4; // what one call of getRandomValues gives
const SEED_BYTES = 32; // a key of AES-256
const FIRST_WORDS = 256; // more than the noise on one number takes
const TOO_FEW = new Error("more coins are needed");

function secureWords(count) {
  const words = new Uint32Array(count);
  for (let start = 0; start < count; start += MOST_WORDS) {
    crypto.getRandomValues(words.subarray(start, start + MOST_WORDS));
  }
  return words;
}

/** Fresh coins at every call. */
const secureCoins = { words: secureWords };

function newSeed() {
  return crypto.getRandomValues(new Uint8Array(SEED_BYTES));
}

/**
 * Draw with the coins of a seed: AES-256 in counter mode. The same seed gives the same coins.
 *
 * A worker who looks at a report, and then reloads the page or corrects an answer, gets the same coins
 * again. Otherwise one could toss until the report says what one likes, and it would no longer be
 * the table's.
 */
async function drawWith(seed, draw) {
  const key = await crypto.subtle.importKey("raw", seed, "AES-CTR", false, ["encrypt"]);
  const counting = { name: "AES-CTR", counter: new Uint8Array(16), length: 64 };
  for (let length = FIRST_WORDS; ; length *= 4) {
    const stream = new Uint32Array(
      await crypto.subtle.encrypt(counting, key, new Uint8Array(4 * length)),
    );
    let next = 0;
    const words = (count) => {
      next += count;
      if (next > length) throw TOO_FEW;
      return stream.slice(next - count, next);
    };
    try {
      return await draw({ words });
    } catch (error) {
      if (error !== TOO_FEW) throw error;
    }
  }
}

// invitation.js
/** Who may report: the token of an invitation, or one that is made here. */

/**
 * The invitation: that of the kept report, or the one given. Null by an open link, for which the
 * worker makes a token, whatever stands in the link. One that cannot fit is noticed before a report is
 * bound to it.
 */
function givenInvitation(given, used, required) {
  if (!required) {
    if (given && !given.startsWith("open-")) {
      throw new ForsoothError(
        "this is not the campaign's link: open the whole link that you were sent",
        "input",
      );
    }
    return used;
  }
  if (used !== null && given && given !== used) throw answeredAlready();
  const token = used ?? given ?? "";
  if (!/^[A-Za-z0-9_-]{43}$/.test(token)) {
    throw new ForsoothError(
      "this campaign needs an invitation: open the whole link that you were sent",
      "input",
    );
  }
  return token;
}

/**
 * The token of somebody whom a panel sent. Who comes back without the id has the report that is kept.
 */
function panelInvitation(token, kept, { parameter }) {
  if (kept && token && token !== kept.invitation) throw answeredAlready();
  const found = token ?? kept?.invitation;
  if (!found) throw idIsMissing(parameter);
  return found;
}

/** By an open link. */
function openToken() {
  return `open-${base64url(crypto.getRandomValues(new Uint8Array(32)))}`;
}

function answeredAlready() {
  return new ForsoothError(
    "this device already holds a report for this campaign; a second one would be a second spend. " +
      "Somebody else who wants to answer here needs a browser profile of their own",
    "answered",
  );
}

// memory.js
/**
 * What a device keeps of one person: what was drawn for each question, and one report per campaign.
 *
 * For a question, a rule and its words for the answers there is one draw, ever. Asked again by any
 * campaign, the same value is sent again and tells nothing new, whatever the answer is by then. So
 * what was drawn is the ledger too: ε adds up over the draws of a question, and over all of them.
 * `docs/formats.md` describes the text; forsooth's Python keeps the same.
 */


/**
 * A report as it was sent, without the answers.
 */

/**
 * How a report of an anonymous campaign gets its token, and when it is sent: with a token, `due` is the
 * time in seconds since 1970, and the rest of the blinding is gone.
 */

const MEMORY_FORMAT = 1n;
const UNIT = 2n ** 1074n; // every float is a whole number of 2^−1074

/** ε for repeats of one question: together they stay "strong", odds of 3 to 1 at most. */
const QUESTION_CAP = 1.09;
/** ε for everything: beyond "weak", odds of 999 to 1, nearly all can be concluded. */
const TOTAL_CAP = 6.9;

class Memory {
  #drawn = new Map();
  campaigns = new Map();
  #coins = new Map();
  #tokens = new Map();

  static read(text) {
    const memory = new Memory();
    if (text === undefined) return memory;
    const json = anObject(parseJson(text), "what this device keeps");
    anInteger(json.get("forsooth"), "the format's version", MEMORY_FORMAT, MEMORY_FORMAT);
    for (const [question, draws] of anObject(json.get("drawn"), "drawn")) {
      const read = [...anObject(draws, "a question")].map(([draw, it]) => [draw, parseDrawn(it)]);
      memory.#drawn.set(question, new Map((read)));
    }
    for (const [address, kept] of anObject(json.get("campaigns"), "campaigns"))
      memory.campaigns.set(address, parseKept(kept));
    for (const [name, seed] of anObject(json.get("coins") ?? new Map(), "coins"))
      memory.#coins.set(name, aText(seed, "a seed"));
    for (const [address, token] of anObject(json.get("tokens") ?? new Map(), "tokens"))
      memory.#tokens.set(address, aText(token, "a token"));
    return memory;
  }

  /** The whole memory as one JSON object. */
  toString() {
    const drawn = [...this.#drawn].map(([question, draws]) => [question, Object.fromEntries(draws)]);
    return JSON.stringify({
      forsooth: Number(MEMORY_FORMAT),
      drawn: Object.fromEntries(drawn),
      campaigns: Object.fromEntries(this.campaigns),
      coins: Object.fromEntries(this.#coins),
      tokens: Object.fromEntries(this.#tokens),
    });
  }

  /**
   * The token for an open link, or the serial for an anonymous one, made once.
   */
  token(address, make) {
    return once(this.#tokens, address, make);
  }

  /**
   * The seed of a draw that was not sent yet, made once.
   */
  seed({ coins }) {
    return fromBase64(once(this.#coins, coins, () => base64(newSeed())));
  }

  /**
   * What was sent for a cell before; undefined if nothing was.
   */
  value({ question, draw }) {
    return this.#drawn.get(question)?.get(draw)?.value;
  }

  /**
   * ε of all that was sent so far, and of all if these cells are sent too.
   */
  spending(cells) {
    const fresh = cells.filter((cell) => !this.#has(cell));
    const before = [...this.#drawn.values()].flatMap((draws) => [...draws.values()]);
    return { before: total(before), after: total([...before, ...fresh]) };
  }

  /**
   * Refuse cells whose fresh draws would exceed a cap. The default caps are about repeats only: a
   * question that was never asked here, and a first campaign, may exceed them.
   */
  check(cells, { cap, questionCap }) {
    const fresh = cells.filter((cell) => !this.#has(cell));
    for (const [question, cellsOfIt] of groups(fresh)) {
      const before = [...(this.#drawn.get(question)?.values() ?? [])];
      if (!isBeyond(before, cellsOfIt, questionCap ?? QUESTION_CAP, questionCap === undefined))
        continue;
      const [was, would] = [total(before), total([...before, ...cellsOfIt])].map(shownEpsilon);
      throw new ForsoothError(
        `refused: this device has answered “${cellsOfIt[0].text}” before, under another rule ` +
          `(ε = ${was}). A fresh report would make that ε = ${would}, and your limit for one question ` +
          `is ${shownEpsilon(questionCap ?? QUESTION_CAP)}`,
        "repeated",
      );
    }
    const all = [...this.#drawn.values()].flatMap((draws) => [...draws.values()]);
    if (!isBeyond(all, fresh, cap ?? TOTAL_CAP, cap === undefined)) return;
    const [was, would] = [total(all), total([...all, ...fresh])].map(shownEpsilon);
    throw new ForsoothError(
      `refused: your answers so far have ε = ${was} in all. With this campaign it would be ${would}, ` +
        `and your limit is ${shownEpsilon(cap ?? TOTAL_CAP)}`,
      "spent",
    );
  }

  /**
   * Enter what is about to be sent, and forget the coins that it was made with: who finds this device
   * later cannot take the noise away.
   */
  spend(cells, caps) {
    this.check(cells, caps);
    for (const { question, draw, coins, epsilon, value } of cells) {
      const draws = this.#drawn.get(question) ?? new Map();
      const before = draws.get(draw);
      if (before && before.value !== value) {
        throw new ForsoothError(
          "another report with one of these questions was sent from this device in the meantime: " +
            "look again at what will be sent",
          "changed",
        );
      }
      this.#drawn.set(question, draws.set(draw, { epsilon, value }));
      this.#coins.delete(coins);
    }
  }

  /**
   * Keep a campaign's report.
   */
  keep(address, kept) {
    this.#tokens.delete(address);
    this.campaigns.set(address, kept);
    return String(this);
  }

  #has({ question, draw }) {
    return this.#drawn.get(question)?.has(draw) ?? false;
  }
}

function once(all, key, make) {
  const found = all.get(key) ?? make();
  all.set(key, found);
  return found;
}

function groups(cells) {
  const found = new Map();
  for (const cell of cells) {
    const same = found.get(cell.question);
    if (same) same.push(cell);
    else found.set(cell.question, [cell]);
  }
  return found;
}

/**
 * Would fresh draws after the former ones exceed a cap? In exact arithmetic.
 */
function isBeyond(before, fresh, cap, repeatsOnly) {
  if (fresh.length === 0 || cap === Infinity || (repeatsOnly && before.length === 0)) return false;
  return units([...before, ...fresh]) > units([{ epsilon: checkEpsilon(cap) }]);
}

function units(draws) {
  return draws.reduce((sum, { epsilon }) => {
    const { n, d } = fractionOf(epsilon);
    return sum + (n * UNIT) / d;
  }, 0n);
}

function total(draws) {
  return draws.length === 0 ? 0 : floatAbove({ n: units(draws), d: UNIT });
}

function shownEpsilon(epsilon) {
  return String(Number(epsilon.toPrecision(3)));
}

function parseDrawn(json) {
  const drawn = anObject(json, "a draw");
  const value = drawn.get("value");
  return {
    epsilon: checkEpsilon(aNumber(drawn.get("epsilon"), "ε")),
    value: value === null ? null : aText(value, "a value"),
  };
}

function parseKept(json) {
  const kept = anObject(json, "the kept report");
  const body = kept.get("body");
  return {
    invitation: aText(kept.get("invitation"), "invitation"),
    design: aText(kept.get("design"), "design"),
    tasks: aText(kept.get("tasks"), "tasks"),
    body: body === null ? null : aText(body, "body"),
    accepted: aTruth(kept.get("accepted"), "accepted"),
    ...(kept.get("anonymous") != null && { anonymous: parseBlinding(kept.get("anonymous")) }),
  };
}

function parseBlinding(json) {
  const own = anObject(json, "the blinding");
  const text = (name) =>
    own.get(name) === null ? null : aText(own.get(name), name);
  return {
    invitation: aText(own.get("invitation"), "invitation"),
    blinded: text("blinded"),
    inverse: text("inverse"),
    due: own.get("due") === null ? null : Number(anInteger(own.get("due"), "due", 0n)),
  };
}

// question.js
/** Which question this is, whichever campaign asks it: by its words and picture, not its address. */


const SPACES = /\p{White_Space}+/gu;

/**
 * One value of a report, or its share of a sketch, and the names under which it is remembered.
 */

function questionOf({ text, image }) {
  const words = text.normalize("NFC").toLowerCase().replace(SPACES, " ").replace(/^ | $/g, "");
  return sha256Hex(`${words}\n${image ?? ""}`);
}

/**
 * The rule by which one cell is drawn, with the words that the person saw for the answers.
 */
function drawOf(rule, labels) {
  return sha256Hex([rule, ...labels].join("\n"));
}

/**
 * The cells of some tasks. What a sketch draws belongs to one campaign: it cannot be sent in another.
 * What an anonymous report has must not be sent in another: it would show whose report it is.
 */
async function cellsOf({ tasks, labels }, mechanism, rule, address, places, anonymous) {
  const draw = await drawOf(rule, labels);
  const questions = await Promise.all(tasks.map(questionOf));
  const asked = new Map();
  const times = questions.map((question) => {
    const before = asked.get(question) ?? 0;
    asked.set(question, before + 1);
    return before;
  });
  const whole = `${draw}/${address}`;
  return places.map((place) => {
    const question = questions[place];
    const own = `${mechanism.isCellwise && !anonymous ? draw : whole}/${times[place]}`;
    return {
      place,
      text: tasks[place].text,
      question,
      draw: own,
      coins: mechanism.isCellwise ? `${question}/${own}` : whole,
      epsilon: mechanism.cell.epsilon,
    };
  });
}

// obstacle.js
/** Why no report can be sent now: asked before anything is answered, not after. */


/**
 * The service is given the hash of the token, with which nobody can report.
 */
async function obstacleOf(network, address, token) {
  const body = JSON.stringify({ hash: await sha256Hex(token) });
  try {
    const { text } = await request(network, `${address}/check`, body);
    const found = anObject(parseJson(text), "the service's answer").get("invitation");
    if (found === "used") return "already-reported";
    return found === "unknown" ? "unknown-invitation" : null;
  } catch (error) {
    if (error instanceof ForsoothError && error.code === "unreachable") throw error;
    return null; // a service of version 0.1 cannot be asked
  }
}

// report.js
/** From answers to the bytes that leave the worker. */



/**
 * All input is checked before the first coin is tossed. Coins are tossed for every task, skipped or
 * not: what is sent for one task does not depend on the answers to others.
 */
async function makeReport(mechanism, tasks, answers, coins, worker) {
  const codes = codesOf(mechanism, tasks, answers);
  const eligible = await mechanism.eligible(tasks.length, worker);
  const places = reportedOf(mechanism, codes, eligible);
  const inputs = eligible.map((task) => inputOf(mechanism, codes[task]));
  const drawn = await mechanism.randomise(inputs, coins, worker);
  const reported = new Set(places);
  const values = mechanism.isCellwise
    ? drawn.filter((_, cell) => reported.has(eligible[cell]))
    : drawn;
  return assembled(mechanism, codes, places, values);
}

/**
 * What is drawn for a task that may be skipped: where that is public, anything, and it is not sent.
 */
function inputOf({ layout, scale }, code) {
  return layout === "cells" ? code % scale.size : code;
}

/**
 * The tasks that the report is about.
 */
function reportedOf({ layout, scale }, codes, eligible) {
  if (layout === "rows") return eligible;
  const places = eligible.filter((task) => codes[task] !== scale.size);
  if (places.length === 0) throw new ForsoothError("nothing was answered yet", "input");
  return places;
}

function assembled(mechanism, codes, places, values) {
  const answered = mechanism.layout === "cells" ? places : null;
  return { codes, answered, places, values, bytes: encode(values, mechanism.bits) };
}

/**
 * A position on the scale per task, NULL being `scale.size`.
 */
function codesOf({ scale }, tasks, answers) {
  const places = new Map(tasks.map((task, place) => [task, place]));
  const codes = new Array(tasks.length).fill(scale.size);
  const seen = new Set();
  for (const [task, answer] of pairsOf(answers)) {
    const place = places.get(task);
    const where = `task ${shown(task)}`;
    if (place === undefined) throw new ForsoothError(`${where} is not in this campaign`, "input");
    if (seen.has(task)) throw new ForsoothError(`${where} is answered twice`, "input");
    seen.add(task);
    if (answer !== null) codes[place] = scale.code(answer, where);
  }
  return codes;
}

function pairsOf(answers) {
  if (typeof answers !== "object" || answers === null) {
    throw new ForsoothError("answers are an object { task: answer } or a list of pairs", "input");
  }
  if (Symbol.iterator in answers)
    return (answers);
  return Object.entries(answers);
}

/**
 * Values in task order, one after the other in as many bits as each needs: value c stands in the
 * bits [c·bits, (c+1)·bits), bit i being bit i mod 8 of byte i div 8. The bits left over are 0, and
 * the length says how many values there are, nothing else.
 */
function encode(values, bits) {
  const bytes = new Uint8Array(Math.ceil((values.length * bits) / 8));
  const view = new DataView(bytes.buffer);
  values.forEach((value, place) => {
    if (bits === 64) view.setBigInt64(8 * place, BigInt(value), true);
    else writeBits(bytes, place * bits, Number(value));
  });
  return bytes;
}

function writeBits(bytes, start, value) {
  let rest = value << (start % 8);
  for (let byte = start >> 3; rest > 0; byte++, rest >>= 8) bytes[byte] |= rest;
}

// store.js
/** Where a device keeps its memory (`memory.js`): one text, changed in whole and at once. */

/**
 * What the client needs of a store. `update` must be atomic: of two tabs, the second one is given
 * what the first one wrote. If `change` throws, nothing is written.
 */

const DATABASE = "forsooth";
const VERSION = 2;
const TABLE = "memory";
const KEY = "person";
const FORMER = "reports"; // of version 1: a campaign's report under its address

/**
 * The browser's own, IndexedDB; what was written is on the disk before `update` returns.
 */
function browserStore() {
  return {
    read: () => transact("readonly"),
    update: (change) => {
      askToPersist();
      return (transact("readwrite", change));
    },
  };
}

/**
 * A store that is forgotten with the program: for tests, and for programs that keep records
 * themselves.
 */
function memoryStore() {
  let kept;
  return {
    read: async () => kept,
    update: async (change) => (kept = change(kept)),
  };
}

/** Ask the browser not to clear this site's data by itself. Some never answer: nothing waits for it. */
function askToPersist() {
  globalThis.navigator?.storage?.persist?.().catch(() => {});
}

async function transact(mode, change) {
  let database;
  try {
    database = await open();
    const transaction = database.transaction(TABLE, mode, { durability: "strict" });
    const table = transaction.objectStore(TABLE);
    return await new Promise((resolve, reject) => {
      let text;
      let failure;
      const request = table.get(KEY);
      request.onsuccess = () => {
        text = request.result;
        try {
          if (change) table.put((text = change(text)), KEY);
        } catch (error) {
          failure = error;
          transaction.abort();
        }
      };
      transaction.oncomplete = () => resolve(text);
      transaction.onabort = () => reject(failure ?? transaction.error);
    });
  } catch (cause) {
    if (cause instanceof ForsoothError) throw cause;
    const error = new ForsoothError(
      "this browser does not let the page keep your report, and without that nothing is sent: " +
        "coming back would draw fresh noise and protect you less. Allow the page to store data " +
        "(in Node, pass a store)",
      "storage",
    );
    error.cause = cause;
    throw error;
  } finally {
    database?.close();
  }
}

function open() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, VERSION);
    request.onupgradeneeded = ({ oldVersion }) => {
      const table = request.result.createObjectStore(TABLE);
      if (oldVersion === 1) carryOver(request.transaction?.objectStore(FORMER), table);
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * Reports that version 0.1.0 kept: they are still the only ones of their campaigns.
 */
function carryOver(former, table) {
  const memory = new Memory();
  const walk = former?.openCursor();
  if (!walk) return;
  walk.onsuccess = () => {
    const cursor = walk.result;
    if (!cursor) return void table.put(String(memory), KEY);
    memory.campaigns.set(String(cursor.key), parseKept(parseJson(cursor.value)));
    cursor.continue();
  };
}

// channel.js
/**
 * Channels: exact integer tables P(report symbol | answer or NULL).
 *
 * Every row has integer weights that sum to 2³²; a draw takes 32 uniform bits and walks the row, so
 * the probability *is* the weight, and ε = max over columns of ln(largest / smallest weight).
 */


const TOTAL = 2 ** 32; // the weights of a row sum to it
const ROUNDED = 1e-6; // of a weight: by this much rounding a row to integers can move it

class ChannelMechanism extends Mechanism {
  #exact;

  constructor(json) {
    super(json);
    const parameters = anObject(json.get("parameters"), "parameters");
    const readings = aList(parameters.get("reads_as"), "reads_as");
    this.readsAs = readings.map((r) => (r === null ? null : this.#onScale(aNumber(r, "reads_as"))));
    const rows = aList(parameters.get("weights"), "weights").map((row) => aList(row, "weights"));
    const inputs = this.scale.size + Number(this.protects === "answers+participation");
    if (rows.length !== inputs || !rows.every((row) => row.length === this.readsAs.length)) {
      throw new ForsoothError(
        `the scale ${this.scale} with protects = ${this.protects} needs a table of ${inputs} rows ` +
          `and as many columns as symbols (${this.readsAs.length})`,
      );
    }
    this.weights = rows.map((row, index) => this.#row(row, index));
    /** Cumulative weights, row after row; the last of a row (2³²) is left out. */
    this.thresholds = new Uint32Array(inputs * (this.symbols - 1));
    this.weights.forEach((row, index) => {
      let sum = 0;
      for (let symbol = 0; symbol < this.symbols - 1; symbol++) {
        sum += row[symbol];
        this.thresholds[index * (this.symbols - 1) + symbol] = sum;
      }
    });
  }

  get symbols() {
    return this.readsAs.length;
  }

  /** As many as a symbol needs. */
  get bits() {
    return Math.max(1, 32 - Math.clz32(this.symbols - 1));
  }

  get exact() {
    this.#exact ??= this.#measure();
    return this.#exact;
  }

  /**
   * A symbol per cell: how many cumulative weights 32 random bits reach. Every cell is compared
   * with every threshold of its row: the same steps for every input.
   */
  async randomise(codes, coins) {
    const words = coins.words(codes.length);
    const width = this.symbols - 1;
    return codes.map((code, cell) => {
      let symbol = 0;
      for (let place = code * width; place < (code + 1) * width; place++) {
        symbol += Number(words[cell] >= this.thresholds[place]);
      }
      return symbol;
    });
  }

  reading(symbol) {
    return this.readsAs[Number(symbol)];
  }

  /**
   * The answers that send a symbol most often; several where the table merges them.
   */
  likeliest(symbol) {
    const column = this.weights.map((row) => row[Number(symbol)]);
    const most = Math.max(...column) * (1 - ROUNDED);
    return column.flatMap((weight, code) =>
      weight >= most ? [this.scale.labels[code] ?? null] : [],
    );
  }

  #onScale(reading) {
    if (reading < this.scale.low || reading > this.scale.high) {
      throw new ForsoothError(`a symbol reads as ${reading}, off the scale ${this.scale}`);
    }
    return reading;
  }

  #row(json, index) {
    const row = json.map((weight) => anInteger(weight, "a weight", undefined, BigInt(TOTAL)));
    const sum = row.reduce((total, weight) => total + weight, 0n);
    const never = row.findIndex((weight) => weight < 1n);
    if (never >= 0) {
      throw new ForsoothError(
        `${this.#who(index)} can never send the report ${never} (weight ${row[never]}): whoever sees ` +
          "that report would know something for certain. Every weight must be at least 1",
      );
    }
    if (sum !== BigInt(TOTAL)) {
      throw new ForsoothError(`row ${index} of the table sums to ${sum}, not to 2^32`);
    }
    return row.map(Number);
  }

  #measure() {
    const answers = this.scale.labels.map((_, code) => code);
    const value = this.#worst(answers, answers);
    const measured = { value: this.#log(value), participation: Infinity };
    const because = {
      value: this.#says(value),
      participation: "which tasks you answered is public",
    };
    if (this.protects === "answers+participation") {
      const presence = this.#worst(answers, [this.scale.size]);
      measured.participation = this.#log(presence);
      because.participation = this.#says(presence);
    }
    return { ...measured, because };
  }

  /**
   * The two inputs, one of each group, and the symbol with the largest ratio, either way round.
   */
  #worst(some, others) {
    let worst = { larger: 1, smaller: 1, likely: 0, unlikely: 0, symbol: 0 };
    for (let symbol = 0; symbol < this.symbols; symbol++) {
      const weight = (row) => this.weights[row][symbol];
      for (const [group, rest] of [
        [some, others],
        [others, some],
      ]) {
        const likely = group.reduce((best, row) => (weight(row) > weight(best) ? row : best));
        const unlikely = rest.reduce((best, row) => (weight(row) < weight(best) ? row : best));
        const [larger, smaller] = [weight(likely), weight(unlikely)];
        if (BigInt(larger) * BigInt(worst.smaller) > BigInt(worst.larger) * BigInt(smaller)) {
          worst = { larger, smaller, likely, unlikely, symbol };
        }
      }
    }
    return worst;
  }

  #log({ larger, smaller }) {
    return logRatio(larger, smaller);
  }

  #says({ larger, smaller, likely, unlikely, symbol }) {
    const times = (larger / smaller).toPrecision(3);
    return (
      `the report ${symbol} is ${Number(times)} times as likely from ${this.#who(likely)} as from ` +
      `${this.#who(unlikely)} (weights ${larger} and ${smaller})`
    );
  }

  #who(row) {
    const label = this.scale.labels[row];
    return label === undefined ? "somebody who did not answer" : `somebody who answered “${label}”`;
  }
}

// assignment.js
/** Public coins: what a campaign assigns to a worker, from a public seed and the worker's name. */

/**
 * A 64-bit number per task, the same for everybody who knows the seed and the name: the first 64
 * bits of SHA-256("seed:worker"), mixed with the task's place by splitmix64.
 */
async function publicWords(seed, worker, tasks) {
  const digest = await sha256(new TextEncoder().encode(`${seed}:${worker}`));
  const key = new DataView(digest.buffer).getBigUint64(0);
  const words = new BigUint64Array(tasks);
  for (let task = 0; task < tasks; task++) {
    let word = BigInt.asUintN(64, key + BigInt(task + 1) * 0x9e3779b97f4a7c15n);
    word = BigInt.asUintN(64, (word ^ (word >> 30n)) * 0xbf58476d1ce4e5b9n);
    word = BigInt.asUintN(64, (word ^ (word >> 27n)) * 0x94d049bb133111ebn);
    words[task] = word ^ (word >> 31n);
  }
  return words;
}

/**
 * `count` distinct tasks, in order: those with the smallest words, no two of which are equal.
 */
async function sampledTasks(seed, worker, tasks, count) {
  const words = await publicWords(seed, worker, tasks);
  const chosen = [...words.keys()].sort((a, b) => (words[a] < words[b] ? -1 : 1));
  return chosen.slice(0, count).sort((a, b) => a - b);
}

// noise.js
/**
 * Discrete Laplace noise: integers k with probability proportional to e^(−rate·|k|), exactly.
 *
 * The difference of two geometric variables. The binary digits of a geometric variable are
 * independent, digit i being 1 with probability 1 / (1 + e^(rate·2^i)); what lies beyond the highest
 * digit drawn is geometric again. A digit compares random bits with the binary digits of that
 * probability, 32 at a time, and goes on only in the case (2^−32) that all of them are equal.
 *
 * Coins are taken in the same order as forsooth's Python does: same coins, same noise.
 */


const BLOCK = 2 ** 16;
const TAIL = 50n; // the tail begins where less than e^−50 of the probability is left
const LONGEST_NOISE = 60n; // binary digits: sums stay within 64

class DiscreteLaplace {
  #digits = [];
  #beyond;

  constructor({ n, d }) {
    let digits = 1n;
    while (n << digits < TAIL * d) digits++;
    if (digits > LONGEST_NOISE) {
      throw new ForsoothError(
        "ε is too small for noise on this grid: it would not fit into 64 bits",
      );
    }
    for (let digit = 0n; digit < digits; digit++) {
      this.#digits.push(new Probability({ n: n << digit, d }, true));
    }
    this.#beyond = new Probability({ n: n << digits, d }, false);
  }

  draw(count, coins) {
    const noise = new BigInt64Array(count);
    for (let start = 0; start < count; start += BLOCK) {
      const part = noise.subarray(start, start + BLOCK);
      const up = this.#geometric(part.length, coins);
      const down = this.#geometric(part.length, coins);
      for (let place = 0; place < part.length; place++) part[place] = up[place] - down[place];
    }
    return noise;
  }

  /**
   * Independent draws with P(G ≥ k) = e^(−rate·k).
   */
  #geometric(count, coins) {
    const total = new BigInt64Array(count);
    this.#digits.forEach((chance, digit) => {
      const heads = chance.toss(count, coins);
      for (let place = 0; place < count; place++)
        total[place] += BigInt(heads[place]) << BigInt(digit);
    });
    const step = 1n << BigInt(this.#digits.length);
    let more = Array.from(total.keys());
    for (;;) {
      const heads = this.#beyond.toss(more.length, coins);
      more = more.filter((_, index) => heads[index]);
      if (more.length === 0) return total;
      for (const place of more) total[place] += step;
    }
  }
}

/** A real probability whose binary digits can be had one block after the other. */
class Probability {
  #exponent;
  #logistic;
  #threshold;

  /**
   * 1 / (1 + e^x) or e^−x for a rational x > 0.
   */
  constructor({ n, d }, logistic) {
    this.#exponent = { n: -n, d };
    this.#logistic = logistic;
    this.#threshold = Number(this.#firstDigits(32n));
  }

  /**
   * `count` independent coins that show 1 with exactly this probability.
   */
  toss(count, coins) {
    const words = coins.words(count);
    const heads = new Uint8Array(count);
    for (let place = 0; place < count; place++)
      heads[place] = Number(words[place] < this.#threshold);
    for (let place = 0; place < count; place++) {
      if (words[place] === this.#threshold) heads[place] = Number(this.#settle(coins));
    }
    return heads;
  }

  /**
   * The first 32 bits are equal: compare the next ones, and the next, until they differ.
   */
  #settle(coins) {
    for (let bits = 64n; ; bits += 32n) {
      const digits = Number(this.#firstDigits(bits) & 0xffffffffn);
      const [word] = coins.words(1);
      if (word !== digits) return word < digits;
    }
  }

  /**
   * ⌊2^bits · p⌋. e^x is transcendental, so enough bits always settle the floor.
   */
  #firstDigits(bits) {
    for (let precision = bits + 64n; ; precision *= 2n) {
      let [low, high] = expBounds(this.#exponent, precision);
      if (this.#logistic) {
        const one = 1n << precision;
        low = (low << precision) / (one + low);
        high = (high << precision) / (one + high) + 1n;
      }
      const spare = precision - bits;
      if (low >> spare === high >> spare) return low >> spare;
    }
  }
}

// laplace.js
/**
 * `lp`: discrete Laplace noise on every cell, in grid steps. NULL is first replaced by a constant of
 * the scale or by a uniform draw from it.
 *
 * With P(k) ∝ e^(−rate·|k|) and rate = ε / sensitivity, moving a cell by at most the sensitivity
 * changes every report's probability by at most e^ε; a random replacement is a mixture of such.
 */


const GRIDS = ([-60n, 60n]); // exponents of a grid step
const REACH = 2n ** 45n; // positions in grid steps: with the noise far within 64 bits
const WORDS = 2n ** 32n;

class LaplaceMechanism extends Mechanism {
  #exact;
  #noise;

  constructor(json) {
    super(json);
    const parameters = anObject(json.get("parameters"), "parameters");
    const positions = aList(parameters.get("positions"), "positions");
    this.grid = Number(anInteger(parameters.get("grid"), "grid", ...GRIDS));
    this.positions = positions.map((place) => anInteger(place, "a position", -REACH, REACH));
    this.sensitivity = anInteger(parameters.get("sensitivity"), "sensitivity", 1n, 2n * REACH);
    const constant = parameters.get("null");
    const last = BigInt(this.scale.size - 1);
    /** The code that NULL becomes; null for a uniform draw. */
    this.constant = constant === null ? null : Number(anInteger(constant, "null", 0n, last));
    if (this.positions.length !== this.scale.size) {
      throw new ForsoothError("lp needs one grid position per answer of the scale");
    }
    if (this.#spread() > this.sensitivity) {
      throw new ForsoothError(
        `lp does not keep its promise: two answers lie ${this.#spread()} grid steps apart, ` +
          `the noise is made for ${this.sensitivity}`,
      );
    }
  }

  /** A whole number of grid steps, with its sign. */
  get bits() {
    return 64;
  }

  get exact() {
    this.#exact ??= this.#measure();
    return this.#exact;
  }

  /**
   * Replacement and noise are drawn for every cell, whether it is answered or not.
   */
  async randomise(codes, coins) {
    this.#noise ??= new DiscreteLaplace(this.#times(1n));
    const replacements = this.#replacements(codes.length, coins);
    const noise = this.#noise.draw(codes.length, coins);
    return codes.map((code, cell) => {
      const place = [code, replacements[cell]][Number(code === this.scale.size)];
      return this.positions[place] + noise[cell];
    });
  }

  reading(steps) {
    return Number(steps) * 2 ** this.grid;
  }

  #replacements(count, coins) {
    if (this.constant !== null) return new Array(count).fill(this.constant);
    return Array.from(coins.words(count), (word) => Math.floor((word * this.scale.size) / 2 ** 32));
  }

  /**
   * rate × distance, a rational number.
   */
  #times(distance) {
    const { n, d } = fractionOf(this.epsilon);
    return { n: n * distance, d: d * this.sensitivity };
  }

  #measure() {
    const spread = this.#spread();
    const value = floatAbove(this.#times(spread));
    let participation = Infinity;
    if (this.protects === "answers+participation") {
      participation = Math.max(this.replacement.above, this.replacement.below);
    }
    const noise = `the noise is made for ${this.sensitivity} grid steps`;
    const because = {
      value: `two answers lie ${spread} grid steps apart, ${noise}`,
      participation:
        participation === Infinity
          ? "which tasks you answered is public"
          : `a skipped task is filled in, ${noise}`,
    };
    return { value, participation, because };
  }

  #spread() {
    return farthest(this.positions, this.positions);
  }

  /**
   * How far an answer's report may be likelier than that of what replaces NULL (`above`), and the
   * other way round (`below`): log-ratios, rounded up.
   */
  get replacement() {
    if (this.constant === null) return this.#mixture();
    const most = floatAbove(this.#times(farthest(this.positions, [this.positions[this.constant]])));
    return { above: most, below: most };
  }

  /**
   * The largest ln P(y | a) − ln P(y | NULL) over reports y and its opposite, NULL being a uniform
   * mixture.
   *
   * Between two positions both are sums of e^(±rate·y), and outside all of them the ratio is
   * constant: the extremes lie at positions. There P(y | NULL) = c·m(y), P(y | a) = c·e^(−rate·|y−a|),
   * and ln P(y | NULL) − ln P(y | a) reaches from ln m(y) (a = y) to ln m(y) + rate · (y's farthest a).
   */
  #mixture() {
    if (this.#spread() === 0n) return { above: 0, below: 0 };
    const high = floatAbove(this.#times(this.#spread())); // the mixture is not above that
    const size = BigInt(this.scale.size);
    const first = this.positions.map((_, code) => (WORDS * BigInt(code) + size - 1n) / size);
    const share = first.map((start, code) => (first[code + 1] ?? WORDS) - start);
    const density = this.#densities();
    let [above, below] = [0, 0];
    for (const y of this.positions) {
      const mixed = (bits) => {
        const sums = [0n, 0n];
        this.positions.forEach((x, code) => {
          const bounds = density(bits, y - x);
          sums[0] += share[code] * bounds[0];
          sums[1] += share[code] * bounds[1];
        });
        return [sums[0] / WORDS, sums[1] / WORDS + 1n];
      };
      const inverse = (bits) => {
        const [least, most] = mixed(bits);
        const one = 1n << (2n * bits);
        return [one / most, one / least + 1n];
      };
      const far = this.#times(farthest(this.positions, [y]));
      if (!logIsAtMost(below, mixed, far)) below = logAbove(mixed, high, far);
      if (!logIsAtMost(above, inverse, { n: 0n, d: 1n })) above = logAbove(inverse, high);
    }
    return { above, below };
  }

  /** e^(−rate·|distance|), each computed once. */
  #densities() {
    const known = new Map();
    return (bits, distance) => {
      const length = distance < 0n ? -distance : distance;
      const key = `${bits} ${length}`;
      let bounds = known.get(key);
      if (!bounds) known.set(key, (bounds = expBounds(this.#times(-length), bits)));
      return bounds;
    };
  }
}

/**
 * The largest distance between a position of one list and a position of the other.
 */
function farthest(some, others) {
  const ends = (places) => [
    places.reduce((a, b) => (b < a ? b : a)),
    places.reduce((a, b) => (b > a ? b : a)),
  ];
  const [[low, high], [least, most]] = [ends(some), ends(others)];
  return high - least > most - low ? high - least : most - low;
}

// factorization.js
/**
 * `mf-safe`: two noisy sketches of d numbers each, values and presence, over the answered tasks.
 *
 * Task j has a public profile: ±1 in one of d places. An answer adds ±(a − centre) to the values
 * and ±κ to the presence there, a NULL adds nothing. One cell moves both together by at most Δ in
 * 1-norm, and noise with P(k) ∝ e^(−ε|k|/Δ) on each of the 2d numbers makes that ε.
 */

const MOST_PLACES = 2n ** 20n;

class SafeFactorization extends Mechanism {
  constructor(json) {
    super(json);
    const parameters = anObject(json.get("parameters"), "parameters");
    const centred = aList(parameters.get("centred"), "centred");
    this.places = Number(anInteger(parameters.get("d"), "d", 1n, MOST_PLACES));
    this.grid = Number(anInteger(parameters.get("grid"), "grid", ...GRIDS));
    this.centred = centred.map((place) => anInteger(place, "a position", -REACH, REACH));
    this.presence = anInteger(parameters.get("presence"), "presence", 1n, REACH);
    this.sensitivity = anInteger(parameters.get("sensitivity"), "sensitivity", 1n, 2n * REACH);
    this.seed = anInteger(parameters.get("seed"), "seed", 0n);
    if (this.centred.length !== this.scale.size) {
      throw new ForsoothError("mf-safe needs one position per answer of the scale");
    }
    const { value, participation } = this.#moved();
    const moved = value > participation ? value : participation;
    if (moved > this.sensitivity) {
      throw new ForsoothError(
        `mf-safe does not keep its promise: one cell moves the sketches by ${moved} grid steps, ` +
          `the noise is made for ${this.sensitivity}`,
      );
    }
  }

  /** A whole number of grid steps, with its sign. */
  get bits() {
    return 64;
  }

  get layout() {
    return "rows";
  }

  get isCellwise() {
    return false;
  }

  get exact() {
    const { value, participation } = this.#moved();
    const noise = `the noise is made for ${this.sensitivity}`;
    return {
      value: floatAbove(this.#times(value)),
      participation: floatAbove(this.#times(participation)),
      because: {
        value: `changing an answer moves the sketches by ${value} grid steps, ${noise}`,
        participation: `skipping a task moves the sketches by ${participation} grid steps, ${noise}`,
      },
    };
  }

  async randomise(codes, coins, worker) {
    const sketches = new BigInt64Array(2 * this.places);
    const value = [...this.centred, 0n];
    const present = [...this.centred.map(() => this.presence), 0n];
    const words = await publicWords(this.seed, worker, codes.length);
    codes.forEach((code, task) => {
      const place = Number(((words[task] >> 32n) * BigInt(this.places)) >> 32n);
      const sign = words[task] & 1n ? 1n : -1n;
      sketches[place] += sign * value[code];
      sketches[place + this.places] += sign * present[code];
    });
    const noise = new DiscreteLaplace(this.#times(1n)).draw(sketches.length, coins);
    return Array.from(sketches, (number, place) => number + noise[place]);
  }

  /** A single number says nothing about a single task. */
  reading() {
    return null;
  }

  /** How far one cell can move the sketches, in grid steps, for each kind of neighbours. */
  #moved() {
    const sorted = [...this.centred].sort((a, b) => (a < b ? -1 : Number(a > b)));
    const [low, high] = [sorted[0], sorted[sorted.length - 1]];
    return { value: high - low, participation: (high > -low ? high : -low) + this.presence };
  }

  #times(steps) {
    const { n, d } = fractionOf(this.epsilon);
    return { n: n * steps, d: d * this.sensitivity };
  }
}

// presence.js
/**
 * `rr-lp`: randomized response for whether a cell is answered, discrete Laplace noise for its value.
 *
 * With ε₁ of the first step and ε₂ of the `lp` within, every cell is protected with ε₁ + ε₂: a value
 * is reported of an answer with probability p·f, of a skipped cell with (1 − p)·m, where
 * p / (1 − p) ≤ e^ε₁ and f and m are within e^ε₂; the report "not answered" has the ratio p / (1 − p).
 */


const NOT_ANSWERED = -(2n ** 63n); // the noise stays far from it

class PresenceLaplace extends Mechanism {
  #exact;

  constructor(json, read) {
    super(json);
    const parameters = anObject(json.get("parameters"), "parameters");
    const inner = read(aText(parameters.get("inner"), "inner"));
    const most = BigInt(TOTAL);
    this.keep = Number(anInteger(parameters.get("keep"), "keep", most / 2n, most - 1n));
    if (this.protects !== "answers+participation") {
      throw new ForsoothError("rr-lp protects participation; where that is public, lp is used");
    }
    if (!(inner instanceof LaplaceMechanism)) {
      throw new ForsoothError(`rr-lp has an lp within, not ${inner.name}`);
    }
    this.inner = inner;
    const [asked, used] = [this.scale, inner.scale].map(({ labels }) => JSON.stringify(labels));
    if (asked !== used || inner.protects !== this.protects) {
      throw new ForsoothError("the lp within rr-lp must have the same scale and protection");
    }
    /** ε₁, rounded up. */
    this.presence = logRatio(this.keep, TOTAL - this.keep);
    const spent = sum(fractionOf(this.presence), fractionOf(inner.epsilon));
    const { n, d } = fractionOf(this.epsilon);
    if (spent.n * d > n * spent.d) {
      throw new ForsoothError(
        `refused: rr-lp spends ${this.presence} on participation and ${inner.epsilon} on values, ` +
          `more than its ε = ${this.epsilon}`,
      );
    }
  }

  /** A whole number of grid steps, with its sign. */
  get bits() {
    return this.inner.bits;
  }

  get exact() {
    this.#exact ??= this.#measure();
    return this.#exact;
  }

  /**
   * Both steps are taken for every cell, whatever the outcome of the first.
   */
  async randomise(codes, coins) {
    const words = coins.words(codes.length);
    const noisy = await this.inner.randomise(codes, coins);
    return codes.map((code, cell) => {
      const truthful = words[cell] < this.keep;
      return [NOT_ANSWERED, noisy[cell]][Number((code !== this.scale.size) === truthful)];
    });
  }

  reading(steps) {
    return BigInt(steps) === NOT_ANSWERED ? null : this.inner.reading(steps);
  }

  #measure() {
    const { value, because } = this.inner.exact;
    const { above, below } = this.inner.replacement;
    const first = fractionOf(this.presence);
    const skipped = floatAbove(sum(first, fractionOf(above)));
    const answered = fractionOf(below);
    const rest = sum(answered, { n: -first.n, d: first.d });
    const participation = Math.max(skipped, rest.n > 0n ? floatAbove(rest) : 0);
    const odds = `whether you answered is reported truthfully ${this.keep} times out of ${TOTAL}`;
    return { value, participation, because: { value: because.value, participation: odds } };
  }
}

function sum(a, b) {
  return { n: a.n * b.d + b.n * a.d, d: a.d * b.d };
}

// sampled.js
/**
 * unit = worker: ε for everything one worker says, instead of ε per cell.
 *
 * Each worker reports on `count` tasks only. A public seed and the worker's public name choose them,
 * and no answer does; so every client and the collector draw the same, and the other tasks cannot
 * influence the report. Each of the cells goes through an ordinary mechanism with its share of ε.
 */

class SampledTasks extends Mechanism {
  constructor(json, read) {
    super(json);
    const parameters = anObject(json.get("parameters"), "parameters");
    this.inner = read(aText(parameters.get("inner"), "inner"));
    this.count = Number(anInteger(parameters.get("count"), "count", 1n));
    this.seed = anInteger(parameters.get("seed"), "seed", 0n);
    if (!this.inner.isCellwise || this.inner.cells !== null) {
      throw new ForsoothError(`${this.inner.name} cannot be used on sampled tasks`);
    }
    const [asked, used] = [this.scale, this.inner.scale].map(({ labels }) => JSON.stringify(labels));
    if (asked !== used || this.inner.protects !== this.protects) {
      throw new ForsoothError("the sampled mechanism must have the same scale and protection");
    }
    const [cell, whole] = [fractionOf(this.inner.epsilon), fractionOf(this.epsilon)];
    if (BigInt(this.count) * cell.n * whole.d > whole.n * cell.d) {
      throw new ForsoothError(
        `refused: ${this.count} cells with ε = ${this.inner.epsilon} each spend more than the ` +
          `worker's ε = ${this.epsilon}`,
      );
    }
  }

  /** For the whole worker: every sampled cell at its worst, and the ratios multiply. */
  get exact() {
    const { value, participation, because } = this.inner.exact;
    return { value: this.#times(value), participation: this.#times(participation), because };
  }

  get bits() {
    return this.inner.bits;
  }

  get cell() {
    return this.inner;
  }

  get cells() {
    return this.count;
  }

  async eligible(tasks, worker) {
    if (this.count > tasks) {
      throw new ForsoothError(`refused: ${this.count} of ${tasks} tasks cannot be sampled`);
    }
    return sampledTasks(this.seed, worker, tasks, this.count);
  }

  randomise(codes, coins, worker) {
    return this.inner.randomise(codes, coins, worker);
  }

  reading(value) {
    return this.inner.reading(value);
  }

  likeliest(value) {
    return this.inner.likeliest(value);
  }

  #times(epsilon) {
    return Number.isFinite(epsilon) ? timesAbove(epsilon, this.count) : epsilon;
  }
}

// verify.js
/** Reading a mechanism is verifying it: one that breaks a promise is refused, with the reason. */


const FORMAT = 1n;
const KINDS = {
  channel: ChannelMechanism,
  laplace: LaplaceMechanism,
  "presence-laplace": PresenceLaplace,
  "safe-factorization": SafeFactorization,
  "sampled-tasks": SampledTasks,
};
const UNSUPPORTED = {
  "two-layer": "two-layer",
  "matrix-factorization": "mf",
};

/**
 * A mechanism from its JSON text. Whatever breaks the promise that the text itself makes is refused.
 */
function readMechanism(text) {
  const json = anObject(parseJson(text), "a mechanism");
  const format = anInteger(json.get("forsooth"), "the format's version");
  if (format !== FORMAT) {
    throw new ForsoothError(`this mechanism is of version ${format}; this client reads ${FORMAT}`);
  }
  const kind = aText(json.get("kind"), "kind");
  if (Object.hasOwn(UNSUPPORTED, kind)) {
    throw new ForsoothError(
      `this client cannot verify the mechanism ${UNSUPPORTED[kind]} (kind ${kind}), ` +
        "so it does not take part",
    );
  }
  if (!Object.hasOwn(KINDS, kind)) {
    throw new ForsoothError(`unknown kind of mechanism ${shown(kind)}`);
  }
  const mechanism = new KINDS[kind](json, readMechanism);
  requireEpsilon(mechanism, mechanism.epsilon, "the mechanism promises");
  return mechanism;
}

/**
 * What was found, in numbers to show.
 */

/**
 * Refuse a mechanism that gives away more than a campaign promises or a worker allows.
 */
function verify(
  mechanism,
  {
    tasks,
    promised,
    unit = "cell",
    limit = null,
    totalLimit = null,
    protects: demanded = "answers+participation",
  },
) {
  const { name, protects, cell, cells } = mechanism;
  if (checkProtects(demanded) === "answers+participation" && protects === "answers") {
    throw new ForsoothError(
      "refused: this campaign protects answers only: everybody sees which questions you answered. " +
        "Agree to that (protects: \"answers\"), or do not take part",
      "weaker",
    );
  }
  const found = cells === null ? "cell" : "worker";
  if (unit !== found) {
    throw new ForsoothError(
      `refused: the campaign promises ε per ${unit}, its mechanism gives ε per ${found}`,
    );
  }
  requireEpsilon(mechanism, checkEpsilon(promised), "the campaign promises");
  if (limit !== null) requireEpsilon(cell, checkEpsilon(limit), "your own limit is");
  const total = mechanism.total(tasks);
  if (totalLimit !== null && total > checkEpsilon(totalLimit)) {
    throw new ForsoothError(
      `refused: your own limit for everything you say is ε = ${totalLimit}, this campaign asks ` +
        `for ε = ${total}`,
    );
  }
  const { value, participation } = mechanism.exact;
  const { epsilon } = cell;
  const measured = { value, participation, tasks, cells, epsilon, total };
  return { mechanism: name, protects, unit: found, promised, ...measured, limit, totalLimit };
}

function requireEpsilon(mechanism, epsilon, whose) {
  const { exact, protects } = mechanism;
  const hidden = protects === "answers+participation";
  for (const kind of (["value", "participation"])) {
    if (exact[kind] > epsilon && (kind === "value" || hidden)) {
      const what = kind === "value" ? "what you answered" : "whether you answered";
      throw new ForsoothError(
        `refused: ${whose} ε = ${epsilon}, but ${what} is protected with ε = ${exact[kind]} only: ` +
          exact.because[kind],
      );
    }
  }
}

// campaign.js
/** A campaign as one worker sees it: open (and verify), prepare (and look), send. */



/**
 * What will be sent beside what was answered. `sent` is null where a report has no value for the
 * task: a skipped task where participation is public, and every task of a sketch (mf-safe). Where
 * only some tasks are sampled (unit = worker), there are rows for these only.
 */




class Campaign {
  #life;
  #required;
  #address;
  #mechanism;
  #invitation; // what the report is sent with: anonymous, the serial
  #invited;
  #announced;
  #delay;
  #design;
  #tasksDigest;
  #cells;
  #caps;
  #store;
  #network;
  #kept;
  #ready = null;
  #sending = null;

  /**
   * Read a campaign and verify its mechanism; one that breaks its promise is refused.
   *
   * If this device already holds a report for the campaign, the campaign is the one that was
   * answered: the same tasks, the same mechanism. Only that report can be sent again.
   */
  static async open(url, options = {}) {
    const { store = browserStore(), network = internet } = options;
    const link = parseLink(url);
    const { address } = link;
    const said = anObject(parseJson((await request(network, address)).text), "a campaign");
    const { view, announced } = await announcedIn(said, address, link.digest);
    const about = parseAbout(view);
    const tasksDigest = await sha256Hex(JSON.stringify(about.tasks.map((task) => task.id)));
    const kept = Memory.read(await store.read()).campaigns.get(address) ?? null;
    if (kept && kept.tasks !== tasksDigest) throw comesBackChanged();
    if (kept?.body === null) throw reportIsGone();
    const used = kept?.anonymous?.invitation ?? kept?.invitation ?? null;
    const invited = about.panel
      ? panelInvitation((await panelToken(url, about.panel)) ?? options.invitation, kept, about.panel)
      : givenInvitation(options.invitation ?? link.token, used, about.invitationRequired);
    const given = announced ? (kept?.invitation ?? null) : invited;
    const make = announced ? newSerial : openToken;
    const design = kept?.design ?? about.design;
    const text = await designText(network, address, design, kept !== null);
    const mechanism = readMechanism(text);
    const verification = check(mechanism, about, options);
    const made = await store.update((before) => {
      const memory = Memory.read(before);
      if (given === null) memory.token(address, make);
      return String(memory);
    });
    const memory = Memory.read(made);
    const invitation = given ?? memory.token(address, make);
    const worker = await sha256Hex(invitation);
    const places = await mechanism.eligible(about.tasks.length, worker);
    const rule = mechanism.cell === mechanism ? text : innerText(text);
    const cells = await cellsOf(about, mechanism, rule, address, places, announced !== null);
    const caps = { cap: options.cap, questionCap: options.questionCap };
    // Where participation is public, skipping a question can help: this is checked with the answers.
    if (!kept && mechanism.layout === "rows") memory.check(cells, caps);
    const parts = { mechanism, invitation, worker, design, tasksDigest, cells, caps, memory, kept };
    const delay = options.delay ?? DELAY;
    const anonymous = { announced, invited, delay };
    return new Campaign(about, verification, { address, store, network, ...parts, ...anonymous });
  }

  /**
   * For `open`, which verifies.
   */
  constructor(about, verification, parts) {
    const cells = (parts.cells);
    const memory = (parts.memory);
    const tasksOf = (some) =>
      (some.map(({ place }) => about.tasks[place]));
    this.title = about.title;
    this.description = about.description;
    this.presentation = about.presentation;
    this.tasks = about.tasks;
    /** The tasks that this worker's report is about: all, or those sampled for them. */
    this.asked = tasksOf(cells);
    /** Those of them for which a value was sent before; it will be sent again. */
    this.repeated = parts.kept ? [] : tasksOf(cells.filter((cell) => memory.value(cell) != null));
    /** ε for all campaigns in this store so far, and with this one if everything is answered. */
    this.spending = memory.spending(parts.kept ? [] : cells);
    /** The answers as the mechanism names them, in words, and the numbers that they stand for. */
    this.scale = {
      values: about.values,
      labels: about.labels,
      numbers: (parts.mechanism.scale.values),
    };
    this.closed = about.closed;
    /** The service says that it erases reports so many days after the closing; null: it does not. */
    this.retentionDays = about.retentionDays;
    this.#life = about.life;
    this.#required = about.invitationRequired;
    this.panel = about.panel;
    this.worker = parts.worker;
    this.verification = verification;
    /**
     * Of an anonymous campaign, what is the same for everybody; null: it is not anonymous.
     */
    this.anonymous = parts.announced;
    this.#announced = parts.announced;
    this.#invited = parts.invited;
    this.#delay = parts.delay;
    this.#address = parts.address;
    this.#mechanism = parts.mechanism;
    this.#invitation = parts.invitation;
    this.#design = parts.design;
    this.#tasksDigest = parts.tasksDigest;
    this.#cells = cells;
    this.#caps = parts.caps;
    this.#store = parts.store;
    this.#network = parts.network;
    this.#kept = parts.kept;
  }

  /**
   * "open": nothing is kept; "kept": a report is kept here, and the service has not confirmed it;
   * "waiting": the same with a signed token, for its random time; "accepted": it is confirmed.
   */
  get state() {
    if (!this.#kept) return "open";
    if (this.#kept.accepted) return "accepted";
    return this.due ? "waiting" : "kept";
  }

  /** When an anonymous report with its token may be sent; null: it has none. */
  get due() {
    const due = this.#kept?.anonymous?.due;
    return due == null ? null : new Date(1000 * due);
  }

  /**
   * Why no report can be sent now, or null. Nothing is stored, here or there.
   */
  async obstacle() {
    if (this.#life !== "open") return this.#life;
    const invited = this.#announced ? String(this.#invited) : this.#invitation;
    return this.#required ? obstacleOf(this.#network, this.#address, invited) : null;
  }

  /** The campaign's logo as a data: URL; null if it has none. It is loaded from the service now. */
  async logo() {
    const { logo } = this.presentation;
    return logo && fetchLogo(this.#network, this.#address, logo);
  }

  /**
   * Perturb the answers and show what would be sent. Nothing is sent, and no answer is stored.
   *
   * The coins of every question are stored before they are used: after a reload, in another tab and
   * with corrected answers they fall as before. What was sent for a question before is sent again.
   */
  async prepare(answers) {
    if (this.#kept) throw answeredAlready();
    if (this.closed) throw new ForsoothError("this campaign is closed", "closed");
    const mechanism = this.#mechanism;
    const ids = this.tasks.map((task) => task.id);
    const codes = codesOf(mechanism, ids, answers);
    const eligible = this.#cells.map(({ place }) => place);
    const reported = new Set(reportedOf(mechanism, codes, eligible));
    const cells = this.#cells.filter(({ place }) => reported.has(place));
    const text = await this.#store.update((before) => {
      const memory = Memory.read(before);
      memory.check(cells, this.#caps);
      for (const cell of this.#cells) if (memory.value(cell) === undefined) memory.seed(cell);
      return String(memory);
    });
    const memory = Memory.read(text);
    const values = await this.#draw(memory, cells, codes);
    const report = assembled(mechanism, codes, [...reported], values);
    const body = JSON.stringify({
      invitation: this.#invitation,
      design: this.#design,
      report: base64(report.bytes),
      ...(report.answered && { tasks: report.answered }),
    });
    const named = cells.map((cell, index) => ({
      ...cell,
      value: mechanism.isCellwise ? String(values[index]) : null,
    }));
    this.#ready = { body, cells: named };
    return { rows: this.#cells.map((cell) => this.#row(cell, report, memory)), body };
  }

  /**
   * The values to be sent: those sent before, and draws with the stored coins.
   */
  async #draw(memory, cells, codes) {
    const mechanism = this.#mechanism;
    const input = ({ place }) => inputOf(mechanism, codes[place]);
    const draw = (first, of) =>
      drawWith(memory.seed(first), (coins) => mechanism.randomise(of.map(input), coins, this.worker));
    if (!mechanism.isCellwise) return draw(cells[0], cells);
    const values = cells.map(async (cell) => {
      const before = memory.value(cell);
      if (before == null) return (await draw(cell, [cell]))[0];
      return mechanism.bits === 64 ? BigInt(before) : Number(before);
    });
    return Promise.all(values);
  }

  /**
   * Keep the prepared report on this device, then send it; or send the kept one again. An anonymous one
   * gets its token first and is then "waiting": call again at or after `due`.
   */
  send() {
    this.#sending ??= this.#deliver().finally(() => (this.#sending = null)); // two clicks, one way
    return this.#sending;
  }

  async #deliver() {
    const kept = await this.#withToken(this.#kept ?? (await this.#keep()));
    if (kept.body === null) throw reportIsGone();
    if (secondsLeft(kept) > 0) return { status: "waiting" };
    const { text } = await request(this.#network, `${this.#address}/reports`, kept.body);
    const status = anObject(parseJson(text), "the service's answer").get("status");
    if (status !== "accepted" && status !== "already-accepted") {
      throw new ForsoothError("the service did not confirm the report", "unreachable");
    }
    this.#kept = { ...kept, accepted: true };
    // If this note cannot be written, the report is merely offered for sending once more.
    await this.#store
      .update((before) => Memory.read(before).keep(this.#address, { ...kept, accepted: true }))
      .catch(() => {});
    return { status };
  }

  async #withToken(kept) {
    if (!this.#announced) return kept;
    const made = await withToken(this.#network, this.#address, this.#announced, kept, this.#delay);
    if (made === kept) return kept;
    await this.#store.update((before) => Memory.read(before).keep(this.#address, made));
    return (this.#kept = made);
  }

  async #keep() {
    const ready = this.#ready;
    if (ready === null) throw new ForsoothError("prepare a report before sending it", "input");
    const kept = {
      invitation: this.#invitation,
      design: this.#design,
      tasks: this.#tasksDigest,
      body: ready.body,
      accepted: false,
      ...(this.#announced && {
        anonymous: await blindingOf(this.#announced, this.#invitation, String(this.#invited)),
      }),
    };
    await this.#store.update((before) => {
      const memory = Memory.read(before);
      if (memory.campaigns.has(this.#address)) throw answeredAlready();
      memory.spend(ready.cells, this.#caps);
      return memory.keep(this.#address, kept);
    });
    [this.#kept, this.#ready] = [kept, null];
    return kept;
  }

  #row({ place, ...cell }, { codes, places, values }, memory) {
    const { scale, isCellwise } = this.#mechanism;
    const task = this.tasks[place];
    const answer = scale.labels[codes[place]] ?? null;
    const index = places.indexOf(place);
    if (!isCellwise || index < 0) return { task, answer, sent: null, repeated: false };
    const value = values[index];
    const reads = this.#mechanism.reading(value);
    const label = reads === null ? null : scale.labelOf(reads);
    const likeliest = this.#mechanism.likeliest(value);
    const repeated = memory.value({ place, ...cell }) != null;
    return { task, answer, sent: { value, reads, label, likeliest }, repeated };
  }
}

/**
 * Refuse a mechanism that gives less than the campaign promises or the worker demands.
 */
function check(mechanism, about, { limit, totalLimit, protects = "answers+participation" }) {
  if (JSON.stringify(mechanism.scale.labels) !== JSON.stringify(about.values)) {
    throw new ForsoothError(
      "refused: the mechanism is made for another scale than the campaign shows",
    );
  }
  if (mechanism.protects !== about.protects) {
    throw new ForsoothError(
      `refused: the campaign promises to protect ${about.protects}, ` +
        `its mechanism protects ${mechanism.protects}`,
    );
  }
  const tasks = about.tasks.length;
  const claims = { tasks, promised: about.epsilon, unit: about.unit, limit, totalLimit, protects };
  return verify(mechanism, claims);
}

async function designText(network, address, design, answered) {
  try {
    return await fetchDesign(network, address, design);
  } catch (error) {
    const known = error instanceof ForsoothError;
    const gone = known && !["refused", "unreachable"].includes(error.code);
    throw answered && gone ? comesBackChanged() : error;
  }
}

/**
 * The text of the mechanism of one cell, where only some tasks are sampled.
 */
function innerText(text) {
  return ((parseJson(text)).get("parameters").get("inner"));
}

function reportIsGone() {
  return new ForsoothError(
    "refused: this device has answered this campaign and no longer has the report; a second one " +
      "would be a second spend",
    "answered",
  );
}

function comesBackChanged() {
  return new ForsoothError(
    "refused: this campaign was answered here with another mechanism or other tasks; " +
      "a second report would be a second spend",
  );
}

// odds.js
/**
 * ε as odds, for people: how far a report can move its reader, and how strong that promise is.
 *
 * By Bayes' theorem a report multiplies the odds between two things that ε covers by a factor of at
 * most e^ε. Numbers are rounded up, since each of them states a bound. `forsooth/odds.py` says the
 * same, with the reasons for the limits; `vectors/verification/promises.json` is shared.
 */


/** e^ε up to which a promise is called so. @type {readonly (readonly [Strength, number])[]} */
const LIMITS = [
  ["strong", 3],
  ["moderate", 19],
  ["weak", 999],
];
const COUNTABLE = 1e6; // larger odds are not written out: nobody can tell them apart
const FLOAT = 1e-12; // relative: far above what floats make of 3 × 0.1, far below six digits
const HALF = 0.5; // what a reader may have thought before
const RARE = 0.01;

/**
 * How strong the promise of ε is, as one of four words.
 */
function strength(epsilon) {
  return LIMITS.find(([, most]) => epsilon <= Math.log(most))?.[0] ?? "very weak";
}

/**
 * Are the odds small enough to be written out?
 */
function isCountable(epsilon) {
  return epsilon <= Math.log(COUNTABLE);
}

/**
 * ε with six digits, rounded up; what floats make of a decimal number does not count.
 */
function amount(epsilon) {
  const shown = Number(epsilon.toPrecision(6));
  if (shown >= epsilon * (1 - FLOAT)) return String(shown);
  return String(Number((shown + 10 ** (Math.floor(Math.log10(shown)) - 5)).toPrecision(6)));
}

/**
 * The odds that 1 to 1 can become: "2.8 to 1" for ε = 1.
 */
function odds(epsilon) {
  if (!isCountable(epsilon)) return `more than ${grouped(COUNTABLE)} to 1`;
  const factor = Math.exp(epsilon);
  const most = factor < 10 ? upToTenths(factor) : grouped(Math.ceil(factor));
  return `${most} to 1`;
}

/**
 * The probability that `before` can become, in per cent: "74 %" for ½ and ε = 1.
 */
function chance(before, epsilon) {
  const share = 100 / (1 + ((1 - before) / before) * Math.exp(-epsilon));
  if (share > 99.9) return "over 99.9 %";
  return `${share >= 10 && share <= 99 ? Math.ceil(share) : upToTenths(share)} %`;
}

function upToTenths(number) {
  return (Math.ceil(10 * number) / 10).toFixed(1);
}

function grouped(number) {
  return number.toLocaleString("en");
}

// promise.js
/**
 * What a guarantee promises to one person, in words: everything they say first, then one answer.
 *
 * The bound for a single answer holds only if the person's other answers tell nothing about it; ten
 * similar questions are like one question asked ten times. So the total leads, always.
 * `forsooth/promise.py` says the same; `vectors/verification/promises.json` is shared.
 */


/**
 * `strength` and `title` are those of everything the person says. In `conclusions`, `half` and
 * `rare` are what a reader can conclude who thought 50 % or 1 % before.
 */


function inWords(guarantee) {
  const { epsilon, tasks, cells } = guarantee;
  const total = timesAbove(epsilon, cells === null ? tasks : Math.min(cells, tasks));
  const one = "One answer, if your other answers tell nothing about it";
  const single = cells === null && tasks > 1;
  const stated = [["Everything you say", "Anything that concerns you", total]];
  if (single) stated.push([one, one, epsilon]);
  const strong = strength(total);
  return {
    strength: strong,
    title: `${strong[0].toUpperCase()}${strong.slice(1)} protection of everything you say here`,
    bounds: stated.map(([about, , each]) => ({
      about,
      epsilon: each,
      strength: strength(each),
      odds: odds(each),
    })),
    sentences: [
      together(guarantee, total),
      ...(single ? [alone(epsilon)] : []),
      protectedOrNot(guarantee),
    ],
    conclusions: [
      ...stated.map(([, about, each]) => ({
        about,
        half: chance(HALF, each),
        rare: chance(RARE, each),
      })),
      ...known(guarantee).map((about) => ({ about, half: "known", rare: "known" })),
    ],
  };
}

function together({ protects, tasks, cells }, total) {
  const counting = cells === null ? tasks : Math.min(cells, tasks);
  let words =
    counting > 1 ? `All ${counting.toLocaleString("en")} answers together` : "The answer";
  words += `: ε = ${amount(total)}`;
  if (protects === "answers" && counting > 1) words += " if all are given, less if some are not";
  if (cells !== null) {
    const questions = counting === 1 ? "1 question" : `${counting.toLocaleString("en")} questions`;
    words =
      `Only ${questions} of ${tasks.toLocaleString("en")} can influence your report, ` +
      `drawn by lot by a public rule that knows no answers. ${words}`;
  }
  const [after, why] = isCountable(total)
    ? [`think at most ${odds(total)}`, `50 % can become ${chance(HALF, total)}`]
    : ["be practically certain", `odds of ${odds(total)}`];
  return (
    `${words}. Whatever else they know, somebody who thought 1 to 1 before about anything that ` +
    `concerns you can ${after} after reading your report (${why}).`
  );
}

function alone(epsilon) {
  const rise = isCountable(epsilon) ? `at most ${odds(epsilon)}` : odds(epsilon);
  return (
    `A single answer: ε = ${amount(epsilon)}. 1 to 1 can become ${rise} (50 % can become ` +
    `${chance(HALF, epsilon)}), but only if your other answers tell nothing about it. Answers ` +
    "that go together, such as those to similar questions, count together."
  );
}

function protectedOrNot(guarantee) {
  const what =
    guarantee.protects === "answers"
      ? "every answer"
      : "every answer, and whether a question was answered or skipped";
  const open = known(guarantee).map((about) => `${about[0].toLowerCase()}${about.slice(1)}`);
  return `Protected: ${what}. Not protected: ${open.join(" and ")}.`;
}

/**
 * What everybody may know of the person.
 */
function known({ protects }) {
  const took = "That you took part";
  return protects === "answers" ? [took, "Which questions were answered"] : [took];
}

export { Campaign, ForsoothError, QUESTION_CAP, TOTAL_CAP, browserStore, chance, encode, inWords, makeReport, memoryStore, odds, readMechanism, secureCoins, strength, verify };
