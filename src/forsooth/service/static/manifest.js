/** The digest of this page's manifest, computed here from the files as this browser received them. */
import { byId } from "./dom.js";

const MANIFEST = new URL("SHA256SUMS", import.meta.url);
const HTML = "worker.html"; // served under the campaign's address

/** Show the digest, or which file is not the one of the manifest. */
export async function showDigest() {
  const place = byId("digest");
  try {
    place.textContent = await digest();
  } catch {
    place.textContent = "could not be computed: a file could not be read again";
  }
}

async function digest() {
  const manifest = await received(MANIFEST);
  const lines = new TextDecoder().decode(manifest).trim().split("\n");
  for (const [expected, name] of lines.map((line) => line.split("  "))) {
    const url = new URL(name === HTML ? location.pathname : name, import.meta.url);
    if ((await sha256(await received(url))) !== expected) return `${name} is not the file of the manifest`;
  }
  return sha256(manifest);
}

/** @param {URL} url */
async function received(url) {
  return (await fetch(url, { cache: "force-cache" })).arrayBuffer();
}

/** @param {ArrayBuffer} bytes */
async function sha256(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
