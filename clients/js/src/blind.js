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
import { base64url, fromBase64, hex } from "./bytes.js";
import { ForsoothError } from "./error.js";
import { anObject, aText } from "./json.js";

/** @typedef {Uint8Array<ArrayBuffer>} Bytes */
/** @typedef {{n: bigint, size: number}} IssuingKey `size`: bytes of a signature */

const SCHEME = "RSABSSA-SHA384-PSS-Randomized";
const EXPONENT = 65537n;
const EXPONENT_TEXT = "AQAB"; // the same in base64url
const SERIAL_BYTES = 32; // the random prefix of RFC 9474
const SALT_BYTES = 48; // as long as the hash: PSS, not PSSZERO
const HASH_BYTES = 48;
const [FEWEST_BITS, MOST_BITS] = [2048, 4096];

/**
 * Read the key that a campaign announces; one that this client does not understand is refused.
 * @param {unknown} json
 * @returns {IssuingKey}
 */
export function readIssuingKey(json) {
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
export function newSerial() {
  return base64url(crypto.getRandomValues(new Uint8Array(SERIAL_BYTES)));
}

/**
 * The message that is signed.
 * @param {string} serial
 * @param {string} digest in hexadecimal
 * @returns {Bytes}
 */
export function prepareToken(serial, digest) {
  const prefix = fromBase64(serial.replaceAll("-", "+").replaceAll("_", "/"));
  return joined(prefix, bytesOf(BigInt(`0x${digest}`), digest.length / 2));
}

/**
 * What the issuer is to sign, and the inverse that takes the blinding away.
 * @param {IssuingKey} key
 * @param {Bytes} prepared
 */
export async function blindToken(key, prepared) {
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
 * @param {IssuingKey} key
 * @param {Bytes} message
 * @param {bigint} r
 */
export function blindedWith({ n, size }, message, r) {
  return bytesOf((integerOf(message) * power(r, EXPONENT, n)) % n, size);
}

/**
 * The signature of the message, from the signature of the blinded message.
 * @param {IssuingKey} key
 * @param {Bytes} signed
 * @param {bigint} inverse
 */
export function unblinded({ n, size }, signed, inverse) {
  return bytesOf((integerOf(signed) * inverse) % n, size);
}

/**
 * The signature, which is checked: an issuer that signed something else is found out.
 * @param {IssuingKey} key
 * @param {Bytes} prepared
 * @param {Bytes} signed
 * @param {bigint} inverse
 */
export async function finishToken(key, prepared, signed, inverse) {
  const signature = unblinded(key, signed, inverse);
  if (signed.length !== key.size || !(await verifies(key, signature, prepared))) {
    throw new ForsoothError(
      "refused: the service did not sign with the key that the campaign announces",
    );
  }
  return signature;
}

/**
 * @param {IssuingKey} key
 * @param {Bytes} signature
 * @param {Bytes} prepared
 */
async function verifies({ n, size }, signature, prepared) {
  const jwk = { kty: "RSA", n: base64url(bytesOf(n, size)), e: EXPONENT_TEXT };
  const pss = { name: "RSA-PSS", hash: "SHA-384" };
  const key = await crypto.subtle.importKey("jwk", jwk, pss, false, ["verify"]);
  const how = { name: "RSA-PSS", saltLength: SALT_BYTES };
  return crypto.subtle.verify(how, key, signature, prepared);
}

/**
 * EMSA-PSS (RFC 8017, 9.1.1) with SHA-384.
 * @param {IssuingKey} key
 * @param {Bytes} prepared
 * @param {Bytes} salt
 */
export async function encodePss({ n }, prepared, salt) {
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

/**
 * @param {Bytes} seed
 * @param {number} length
 */
async function mgf1(seed, length) {
  const blocks = [];
  for (let block = 0; block * HASH_BYTES < length; block++)
    blocks.push(await sha384(joined(seed, Uint8Array.of(0, 0, 0, block))));
  return joined(...blocks).slice(0, length);
}

/** @param {Bytes} content */
async function sha384(content) {
  return new Uint8Array(await crypto.subtle.digest("SHA-384", content));
}

/**
 * Uniform from 1 to n − 1: what is larger is drawn again.
 * @param {IssuingKey} key
 */
function numberBelow({ n, size }) {
  for (;;) {
    const drawn = integerOf(crypto.getRandomValues(new Uint8Array(size)));
    if (drawn > 0n && drawn < n) return drawn;
  }
}

/**
 * @param {bigint} base
 * @param {bigint} exponent
 * @param {bigint} n
 */
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
 * @param {bigint} number
 * @param {bigint} n
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

/** @param {Uint8Array} content */
function integerOf(content) {
  return BigInt(`0x${hex(content) || "0"}`);
}

/**
 * @param {bigint} number
 * @param {number} size
 * @returns {Bytes}
 */
function bytesOf(number, size) {
  const digits = number.toString(16).padStart(2 * size, "0");
  return Uint8Array.from({ length: size }, (_, place) =>
    parseInt(digits.slice(2 * place, 2 * place + 2), 16),
  );
}

/**
 * @param {...Uint8Array} parts
 * @returns {Bytes}
 */
function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let place = 0;
  for (const part of parts) {
    whole.set(part, place);
    place += part.length;
  }
  return whole;
}
