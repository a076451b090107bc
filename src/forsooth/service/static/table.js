/** Questions from what people paste: one per line, or a table from a file or a spreadsheet. */

const NAMES = {
  text: ["text", "question"],
  id: ["id", "task"],
  image: ["image"],
  section: ["section"],
  scale: ["scale"],
};
const DELIMITERS = ["\t", ";", ","];
const LONGEST_NAME = 40; // of a column; a question is longer, or ends in a mark

/**
 * @typedef {object} Table
 * @property {{text: string, id?: string, image?: string, section?: string}[]} tasks
 * @property {string} scale the one that all rows name; "" if they name none
 * @property {string[]} unused columns with other names
 */

/**
 * @param {string} pasted
 * @returns {Table}
 */
export function readTable(pasted) {
  const text = pasted.replace(/^\uFEFF/, "");
  const found = headerOf(text);
  if (!found) return { tasks: readLines(text), scale: "", unused: [] };
  const { header, delimiter } = found;
  const place = (name) => header.findIndex((each) => NAMES[name].includes(each));
  const [texts, ids, images, sections, scales] = ["text", "id", "image", "section", "scale"].map(place);
  const rows = readRows(text, delimiter)
    .map((cells, index) => ({ cells, number: index + 1 }))
    .slice(1)
    .filter(({ cells }) => cells.some(Boolean));
  const tasks = rows.map(({ cells, number }) => {
    if (cells.slice(header.length).some(Boolean)) throw new Error(tooManyCells(number, cells, header, delimiter));
    if (!cells[texts]) throw new Error(`Row ${number} of the table has no question.`);
    return {
      text: cells[texts],
      ...(cells[ids] && { id: cells[ids] }),
      ...(cells[images] && { image: cells[images] }),
      ...(cells[sections] && { section: cells[sections] }),
    };
  });
  const known = Object.values(NAMES).flat();
  return {
    tasks,
    scale: theScale(rows.map(({ cells }) => cells[scales] ?? "")),
    unused: header.filter((name) => name && !known.includes(name)),
  };
}

function tooManyCells(number, cells, header, delimiter) {
  const name = delimiter === "\t" ? "a tab" : `“${delimiter}”`;
  return (
    `Row ${number} of the table has ${cells.length} cells, its header has ${header.length}. ` +
    `Put texts that contain ${name} in double quotes.`
  );
}

/** @param {string[]} named */
function theScale(named) {
  const scales = [...new Set(named.filter(Boolean))];
  if (scales.length > 1) {
    throw new Error(
      `The table names several scales, for example “${scales[0]}” and “${scales[1]}”. A campaign has ` +
        "one: make a campaign for each.",
    );
  }
  return scales[0] ?? "";
}

/** One question per line; a line in quotes, as spreadsheets write it, is what the quotes hold. */
function readLines(text) {
  const lines = text.split(/\r?\n|\r/).map((line) => line.trim());
  if (lines.filter((line) => line.includes("\t")).length > 1) {
    throw new Error("This is a table, but no column is named text: name the questions’ column so.");
  }
  return lines
    .map((line) => /^"((?:[^"]|"")*)"$/.exec(line)?.[1].replaceAll('""', '"').trim() ?? line)
    .filter(Boolean)
    .map((line) => ({ text: line }));
}

/**
 * The first line, if it names a column of questions; the delimiter is the one that it uses.
 * @param {string} text
 */
function headerOf(text) {
  const [first, ...others] = text.split(/\r?\n|\r/);
  if (!others.some((line) => line.trim())) return null;
  for (const delimiter of DELIMITERS) {
    const header = cellsOf(first, delimiter);
    if (header && NAMES.text.some((name) => header.includes(name)) && header.every(looksLikeName)) {
      return { header, delimiter };
    }
  }
  return null;
}

function cellsOf(line, delimiter) {
  try {
    return readRows(line, delimiter)[0].map((name) => name.toLowerCase());
  } catch {
    return null; // quotes that are part of a question
  }
}

function looksLikeName(cell) {
  return cell.length <= LONGEST_NAME && !/[?!.…:]$/.test(cell);
}

/**
 * Delimited text as spreadsheets write it: cells in quotes may hold anything, quotes doubled.
 * @param {string} text
 * @param {string} delimiter
 * @returns {string[][]}
 */
export function readRows(text, delimiter) {
  const rows = [[]];
  const token = new RegExp(`"((?:[^"]|"")*)"|([^${delimiter}\\r\\n]*)`, "y");
  for (let at = 0; at <= text.length; ) {
    token.lastIndex = at;
    const [whole, quoted, plain] = token.exec(text);
    rows.at(-1).push((quoted?.replaceAll('""', '"') ?? plain).trim());
    at += whole.length;
    if (at < text.length && text[at] !== delimiter) {
      if (!/[\r\n]/.test(text[at])) {
        throw new Error(`Row ${rows.length} of the table cannot be read: a quote is out of place.`);
      }
      if (text[at] === "\r" && text[at + 1] === "\n") at += 1;
      rows.push([]);
    }
    at += 1;
  }
  return rows;
}

/**
 * The same back, to be read by `readRows` and by spreadsheets.
 * @param {readonly (readonly string[])[]} rows
 */
export function writeRows(rows) {
  const quote = (cell) => (/[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return rows.map((row) => `${row.map(quote).join(",")}\n`).join("");
}

/**
 * The delimiter that a line uses most.
 * @param {string} line
 */
export function delimiterOf(line) {
  const count = (delimiter) => line.split(delimiter).length;
  return DELIMITERS.reduce((best, each) => (count(each) > count(best) ? each : best), ",");
}

/**
 * The text of a file: in UTF-8 or UTF-16, or as Windows programs in western Europe write it.
 * @param {Blob} file
 */
export async function readText(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}
