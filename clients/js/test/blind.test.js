/** RSA blind signatures: the vectors of RFC 9474, and what is refused. */
import assert from "node:assert/strict";
import { constants, createPrivateKey, generateKeyPairSync, privateDecrypt } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import {
  blindToken,
  blindedWith,
  encodePss,
  finishToken,
  newSerial,
  prepareToken,
  readIssuingKey,
  unblinded,
} from "../src/blind.js";
import { hex } from "../src/bytes.js";
import { announcedKey } from "./collector.js";

const RFC = JSON.parse(
  readFileSync(new URL("../vectors/verification/rfc9474.json", import.meta.url), "utf8"),
);
const [P, Q] = [BigInt(`0x${RFC.p}`), BigInt(`0x${RFC.q}`)];
const KEY = { n: P * Q, size: 512 };
const EXPONENT = 65537n;

/** @param {string} text */
const bytes = (text) => new Uint8Array(Buffer.from(text, "hex"));
/** @param {bigint} number */
const text = (number) => {
  const digits = number.toString(16);
  return Buffer.from(digits.padStart(digits.length + (digits.length % 2), "0"), "hex").toString(
    "base64url",
  );
};
/** @param {bigint} number @param {bigint} n */
function inverse(number, n) {
  let [a, b, x, y] = [n, number % n, 0n, 1n];
  while (b) [a, b, x, y] = [b, a % b, y, x - (a / b) * y];
  return ((x % n) + n) % n;
}

/** The private key of the vectors; the raw operation is OpenSSL's. */
function issuer() {
  const d = inverse(EXPONENT, (P - 1n) * (Q - 1n));
  const parts = { n: P * Q, e: EXPONENT, d, p: P, q: Q, dp: d % (P - 1n), dq: d % (Q - 1n) };
  const numbers = Object.entries({ ...parts, qi: inverse(Q, P) }).map(([k, v]) => [k, text(v)]);
  return createPrivateKey({ key: { kty: "RSA", ...Object.fromEntries(numbers) }, format: "jwk" });
}
const ISSUER = issuer();

/** @param {Uint8Array} blinded */
const sign = (blinded) =>
  new Uint8Array(privateDecrypt({ key: ISSUER, padding: constants.RSA_NO_PADDING }, blinded));

for (const vector of RFC.vectors) {
  test(`RFC 9474: ${vector.name}`, async () => {
    assert.equal(KEY.n.toString(16), RFC.n);
    const prepared = bytes(vector.msg_prefix + RFC.msg);
    const inv = BigInt(`0x${vector.inv}`);
    const message = await encodePss(KEY, prepared, bytes(vector.salt));
    const blinded = blindedWith(KEY, message, inverse(inv, KEY.n));
    assert.equal(hex(blinded), vector.blinded_msg);
    const signed = sign(blinded);
    assert.equal(hex(signed), vector.blind_sig);
    assert.equal(hex(unblinded(KEY, signed, inv)), vector.sig);
    const finished = finishToken(KEY, prepared, signed, inv);
    if (vector.salt) assert.equal(hex(await finished), vector.sig);
    else await assert.rejects(finished, /did not sign/); // another encoding than ours
  });
}

test("a signature by another key is found out", async () => {
  const prepared = prepareToken(newSerial(), "ab".repeat(32));
  const made = await blindToken(KEY, prepared);
  const signed = sign(made.blinded);
  await finishToken(KEY, prepared, signed, made.inverse);
  const changed = signed.map((byte, place) => (place === 511 ? byte ^ 1 : byte));
  for (const bad of [changed, made.blinded, signed.slice(1), new Uint8Array(512)])
    await assert.rejects(finishToken(KEY, prepared, bad, made.inverse), /did not sign/);
});

test("other keys are refused", () => {
  const small = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey;
  const given = announcedKey(generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey);
  const read = (/** @type {object} */ data) => readIssuingKey(new Map(Object.entries(data)));
  assert.equal(read(given).size, 256);
  for (const change of [
    { scheme: "RSABSSA-SHA384-PSSZERO-Deterministic" },
    { e: "Aw" },
    { n: announcedKey(small).n },
    { n: `A${given.n}` },
    { n: text(1n << 3071n) },
    { more: "x" },
  ])
    assert.throws(() => read({ ...given, ...change }), /issuing key must be|not base64/);
});
