/** Lists of people and of links. They are read here and sent nowhere. */
import { delimiterOf, readRows, writeRows } from "./table.js";

const COLUMN = /^(e-?mail( address)?|mail|name|(first|last|full|given|family) ?name|surname|id|number|group|team|address)$/i;
const TOKEN = /(?:#|^)([A-Za-z0-9_-]{43})$/;
const FORMULA = /^[=+\-@\t\r]/;

/** @typedef {{header: string[], rows: string[][]}} List */

/**
 * People, one per line; or a table, if its first line names columns such as name or email.
 * @param {string} text
 * @returns {List}
 */
export function readPeople(text) {
  const lines = text.split(/\r?\n|\r/).map((line) => line.trim());
  const first = lines.find(Boolean) ?? "";
  const delimiter = delimiterOf(first);
  if (first.split(delimiter).some((cell) => COLUMN.test(cell.trim()))) {
    const [header, ...rows] = readRows(text.trim(), delimiter);
    return { header, rows: rows.filter((row) => row.some(Boolean)) };
  }
  return { header: ["name"], rows: lines.filter(Boolean).map((line) => [line]) };
}

/**
 * A list with links, such as the file that was downloaded: each row and the token in it.
 * @param {string} text
 * @returns {{header: string[], rows: {cells: string[], token: string}[], others: number}}
 */
export function readLinks(text) {
  const trimmed = text.replace(/^\uFEFF/, "").trim();
  const rows = readRows(trimmed, delimiterOf(trimmed.split(/\r?\n|\r/)[0]));
  const found = rows.map((cells) => ({ cells, token: tokenIn(cells) }));
  const header = found[0].token ? [] : found[0].cells;
  const named = found.filter(({ token }) => token);
  const others = found.filter(({ cells, token }) => !token && cells.some(Boolean)).length;
  return { header, rows: named, others: others - (header.some(Boolean) ? 1 : 0) };
}

function tokenIn(cells) {
  return cells.map((cell) => TOKEN.exec(cell)?.[1]).find(Boolean) ?? "";
}

/**
 * A file for a spreadsheet or a mail merge; no cell begins like a formula.
 * @param {readonly (readonly string[])[]} rows
 */
export function csvFile(rows) {
  const guarded = rows.map((row) => row.map((cell) => (FORMULA.test(cell) ? `'${cell}` : cell)));
  return new Blob(["\uFEFF", writeRows(guarded)], { type: "text/csv;charset=utf-8" });
}

/**
 * What the service knows of a token.
 * @param {string} token
 */
export async function hashOf(token) {
  if (!crypto.subtle) throw new Error("Open this page over https: without it the browser has no SHA-256.");
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
