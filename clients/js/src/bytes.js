/** Bytes as text, text as bytes, and their fingerprint. */
import { ForsoothError } from "./error.js";

/**
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export async function sha256(bytes) {
  if (!globalThis.crypto?.subtle) {
    throw new ForsoothError(
      "this page must be opened over https: the browser offers no SHA-256 here",
    );
  }
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** @param {string} text */
export async function sha256Hex(text) {
  return hex(await sha256(new TextEncoder().encode(text)));
}

/** @param {Uint8Array} bytes */
export function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {Uint8Array} bytes */
export function base64(bytes) {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** @param {string} text */
export function fromBase64(text) {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    throw new ForsoothError("this is not base64");
  }
}

/** @param {Uint8Array} bytes */
export function base64url(bytes) {
  return base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * UTF-8 without repairs and without leaving anything out.
 * @param {Uint8Array | ArrayBuffer} bytes
 */
export function decodeText(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ForsoothError("this is not a text in UTF-8");
  }
}
