/** Questions from what people paste: one per line, or a table from a file or a spreadsheet. */

const TEXT = ["text", "question"];
const ID = ["id", "task"];
const IMAGE = ["image"];

/**
 * @param {string} pasted
 * @returns {{text: string, id?: string, image?: string}[]}
 */
export function readTasks(pasted) {
  const text = pasted.replace(/^\uFEFF/, "");
  const table = asTable(text);
  if (!table) {
    return text
      .split(/\r?\n/)
      .map((line) => ({ text: line.trim() }))
      .filter((task) => task.text);
  }
  const [header, ...rows] = table;
  const column = (names) => header.findIndex((name) => names.includes(name));
  const [texts, ids, images] = [column(TEXT), column(ID), column(IMAGE)];
  return rows
    .filter((row) => row.some(Boolean))
    .map((row, place) => {
      if (!row[texts]) throw new Error(`Row ${place + 1} of the table has no question.`);
      return {
        text: row[texts],
        ...(row[ids] && { id: row[ids] }),
        ...(row[images] && { image: row[images] }),
      };
    });
}

/**
 * The rows, if the first one names a column of questions; the delimiter is the one that it uses.
 * @param {string} text
 */
function asTable(text) {
  for (const delimiter of ["\t", ";", ","]) {
    const rows = readRows(text, delimiter);
    const header = rows[0]?.map((name) => name.toLowerCase()) ?? [];
    if (TEXT.some((name) => header.includes(name))) return [header, ...rows.slice(1)];
  }
  return null;
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
      if (!/[\r\n]/.test(text[at])) throw new Error(`Cannot read the table: a quote is out of place.`);
      if (text[at] === "\r" && text[at + 1] === "\n") at += 1;
      rows.push([]);
    }
    at += 1;
  }
  return rows;
}
