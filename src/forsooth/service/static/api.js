/** The requester's side of the service. The key is in this tab's memory and nowhere else. */

const SLOT = "forsooth-key";

/** A refusal, in the service's words. */
export class Refusal extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export const key = {
  get: () => sessionStorage.getItem(SLOT),
  keep: (text) => sessionStorage.setItem(SLOT, text),
  forget: () => sessionStorage.removeItem(SLOT),
};

const CAMPAIGNS = "v1/campaigns";

/**
 * @param {string} path below `root`
 * @param {object} [body] what is sent; without it, something is asked for
 * @param {string} [method]
 * @param {string} [root]
 * @returns {Promise<any>}
 */
export async function call(path, body, method = "POST", root = CAMPAIGNS) {
  return (await request(`${root}${path}`, body, method)).json();
}

/** @param {string} path @param {object} [body] */
export async function callForBlob(path, body) {
  return (await request(`${CAMPAIGNS}${path}`, body)).blob();
}

async function request(path, body, method = "POST") {
  const headers = { Authorization: `Bearer ${key.get()}` };
  const post = {
    method,
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  let response;
  try {
    response = await fetch(path, body ? post : { headers });
  } catch {
    throw new Refusal(0, "The service cannot be reached.");
  }
  if (response.ok) return response;
  const { detail } = await response.json().catch(() => ({}));
  const message = detail?.message ?? `The service answered with status ${response.status}`;
  throw new Refusal(response.status, `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`);
}

/** Let the browser save a file. @param {Blob} blob @param {string} name */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
