/**
 * Where a report is kept for ever: fresh noise on the same answer would be a second spend, and
 * averaging many would reveal the answer. Reports are kept, never answers.
 */
import { ForsoothError } from "./error.js";

/**
 * What a campaign needs of a store. `add` must be atomic: of two tabs only one adds.
 * @typedef {object} Store
 * @property {(key: string) => Promise<string | undefined>} get
 * @property {(key: string, text: string) => Promise<boolean>} add false if the key is taken
 * @property {(key: string, text: string) => Promise<void>} replace
 */

const DATABASE = "forsooth";
const TABLE = "reports";

/**
 * The browser's own, IndexedDB; what was added is on the disk before `add` returns.
 * @returns {Store}
 */
export function browserStore() {
  return {
    get: (key) => transact("readonly", (table) => table.get(key)),
    replace: (key, text) => transact("readwrite", (table) => table.put(text, key)),
    async add(key, text) {
      try {
        await transact("readwrite", (table) => table.add(text, key));
        return true;
      } catch (error) {
        if (error instanceof ForsoothError && isTaken(error.cause)) return false;
        throw error;
      }
    },
  };
}

/**
 * A store that is forgotten with the program: for tests, and for programs that keep records
 * themselves.
 * @returns {Store}
 */
export function memoryStore() {
  /** @type {Map<string, string>} */
  const kept = new Map();
  return {
    get: async (key) => kept.get(key),
    replace: async (key, text) => void kept.set(key, text),
    async add(key, text) {
      if (kept.has(key)) return false;
      kept.set(key, text);
      return true;
    },
  };
}

/**
 * @param {IDBTransactionMode} mode
 * @param {(table: IDBObjectStore) => IDBRequest} act
 * @returns {Promise<any>}
 */
async function transact(mode, act) {
  /** @type {IDBDatabase | undefined} */
  let database;
  try {
    database = await open();
    const transaction = database.transaction(TABLE, mode, { durability: "strict" });
    const request = act(transaction.objectStore(TABLE));
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
    });
    return request.result;
  } catch (cause) {
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
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** @param {unknown} cause */
function isTaken(cause) {
  return cause instanceof DOMException && cause.name === "ConstraintError";
}
