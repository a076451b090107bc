/** SHA-256 of texts, as the manifest writes it and as pages and policies write it. */
import { createHash } from "node:crypto";

/** @param {string} text */
export function hex(text) {
  return createHash("sha256").update(text).digest("hex");
}

/**
 * In the notation of Subresource Integrity and of a content security policy.
 * @param {string} text
 */
export function integrity(text) {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
