/** Anonymous surveys on the worker's page: what is promised, and the wait for a random time. */
import { byId, shown } from "./dom.js";

let timer = 0;

/**
 * Say what anonymity means here and when it does not hold.
 * @param {import("./forsooth-client.js").Campaign} campaign
 */
export function describeAnonymity({ anonymous }) {
  byId("anonymity").hidden = !anonymous;
  if (!anonymous) return;
  byId("batch").textContent = shown(anonymous.batch);
  byId("announced").textContent = anonymous.digest;
}

/**
 * Show that the report waits. While the page stays open, it is sent by itself when it is due; somebody
 * who comes back after that sends it with a button.
 * @param {import("./forsooth-client.js").Campaign} campaign
 * @param {() => void} send
 */
export function waitForTime({ due }, send) {
  const left = Math.max(0, Number(due) - Date.now());
  const isDue = left === 0;
  const time = due.toLocaleTimeString("en", { hour: "2-digit", minute: "2-digit" });
  byId("due-time").textContent = time;
  for (const [name, hidden] of [["early", isDue], ["stay", isDue], ["later", isDue], ["due", !isDue], ["send-now", !isDue], ["gone", true]])
    byId(name).hidden = hidden;
  clearTimeout(timer);
  if (!isDue) timer = setTimeout(send, left + 1000); // a second more: nothing is sent too early
  byId("send-now").onclick = send;
  byId("later").onclick = () => {
    clearTimeout(timer);
    for (const name of ["early", "stay", "later"]) byId(name).hidden = true;
    byId("gone").hidden = false;
  };
}
