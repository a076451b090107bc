/** Where a device keeps its memory (`memory.js`): one text, changed in whole and at once. */
import { ForsoothError } from "./error.js";
import { Memory, parseKept } from "./memory.js";
import { parseJson } from "./json.js";

/**
 * What the client needs of a store. `update` must be atomic: of two tabs, the second one is given
 * what the first one wrote. If `change` throws, nothing is written.
 * @typedef {object} Store
 * @property {() => Promise<string | undefined>} read
 * @property {(change: (text: string | undefined) => string) => Promise<string>} update gives what was
 *   written
 */

const DATABASE = "forsooth";
const VERSION = 2;
const TABLE = "memory";
const KEY = "person";
const FORMER = "reports"; // of version 1: a campaign's report under its address

/**
 * The browser's own, IndexedDB; what was written is on the disk before `update` returns.
 * @returns {Store}
 */
export function browserStore() {
  return {
    read: () => transact("readonly"),
    update: (change) => {
      askToPersist();
      return /** @type {Promise<string>} */ (transact("readwrite", change));
    },
  };
}

/**
 * A store that is forgotten with the program: for tests, and for programs that keep records
 * themselves.
 * @returns {Store}
 */
export function memoryStore() {
  /** @type {string | undefined} */
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

/**
 * @param {IDBTransactionMode} mode
 * @param {(text: string | undefined) => string} [change]
 * @returns {Promise<string | undefined>}
 */
async function transact(mode, change) {
  /** @type {IDBDatabase | undefined} */
  let database;
  try {
    database = await open();
    const transaction = database.transaction(TABLE, mode, { durability: "strict" });
    const table = transaction.objectStore(TABLE);
    return await new Promise((resolve, reject) => {
      /** @type {string | undefined} */
      let text;
      /** @type {unknown} */
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

/** @returns {Promise<IDBDatabase>} */
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
 * @param {IDBObjectStore | undefined} former
 * @param {IDBObjectStore} table
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
