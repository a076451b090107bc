/**
 * Answers that are not sent yet, kept on this device only, so that a reload or a step back loses
 * nothing. They are deleted before the report is sent, and when the person says so.
 */
const DATABASE = "forsooth-drafts";
const TABLE = "drafts";

export class Draft {
  #key;
  /** Changes follow each other in the order in which they were made. */
  #last = Promise.resolve();

  /** @param {string | null} key whose answers, to which campaign: the hash of the invitation; null: nobody's */
  constructor(key) {
    this.#key = key;
  }

  get isKept() {
    return this.#key !== null;
  }

  /** @returns {Promise<Map<string, string>>} answers by task */
  async read() {
    if (!this.isKept) return new Map();
    return (await transact("readonly", (table) => table.get(this.#key))) ?? new Map();
  }

  /** @param {Map<string, string>} answers */
  save(answers) {
    if (answers.size === 0) return this.forget();
    return this.#after(() => transact("readwrite", (table) => table.put(answers, this.#key)));
  }

  forget() {
    return this.#after(() => transact("readwrite", (table) => table.delete(this.#key)));
  }

  /**
   * The order in which the questions are shown here; drawn once, and then as before.
   * @param {readonly string[]} ids
   * @param {() => string[]} draw
   * @returns {Promise<string[]>}
   */
  async order(ids, draw) {
    if (!this.isKept) return draw();
    const kept = await transact("readonly", (table) => table.get(this.#orderKey)).catch(() => {});
    if (kept?.length === ids.length && ids.every((id) => kept.includes(id))) return kept;
    const drawn = draw();
    await transact("readwrite", (table) => table.put(drawn, this.#orderKey)).catch(() => {});
    return drawn;
  }

  /** Nothing is needed any more. */
  async end() {
    await this.forget();
    await this.#after(() => transact("readwrite", (table) => table.delete(this.#orderKey)));
  }

  get #orderKey() {
    return `${this.#key} order`;
  }

  #after(act) {
    if (!this.isKept) return this.#last;
    const next = this.#last.then(act);
    this.#last = next.catch(() => {});
    return next;
  }
}

async function transact(mode, act) {
  const database = await opened();
  try {
    const transaction = database.transaction(TABLE, mode);
    const request = act(transaction.objectStore(TABLE));
    return await new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

function opened() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
