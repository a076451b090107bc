/** People whom a panel sends: their token, what is refused, and the way back. */
import assert from "node:assert/strict";
import test from "node:test";

import { memoryStore } from "../src/index.js";
import { Collector } from "./collector.js";
import { vectorText } from "./mechanisms.js";

const PANEL = { parameter: "PID", completion_code: "C1", completion_url: null, closed_url: null };
// HMAC-SHA-256 of "person" with the campaign's id as its key, as Python's hmac computes it
const TOKEN = "open-zWsde14D42RwbBhzSIsMFeyTI340UkHkpAB76mEvqzE";

/** @param {object} [changes] */
function campaign(changes) {
  const collector = new Collector();
  const panel = { ...PANEL, ...changes };
  const link = collector.make(vectorText("rr"), ["a", "b"], { invitation_required: false, panel });
  return { collector, link };
}

test("an id gives the same token in every place and on every device", async () => {
  for (const place of ["?PID=person", "#PID=person", "?PID=another#x=1&PID=person"]) {
    const { collector, link } = campaign();
    const opened = await collector.open(link + place, { store: memoryStore() });
    await opened.prepare({});
    await opened.send();
    assert.equal(collector.received[0].invitation, TOKEN);
    assert.equal(opened.panel?.completionCode, "C1");
  }
});

test("without an id nothing is asked, but a report that is kept can be sent", async () => {
  const { collector, link } = campaign();
  for (const place of ["", "?PID=", "#pid=person", "#open-token"]) {
    const opened = collector.open(link + place, { store: memoryStore(), invitation: undefined });
    await assert.rejects(opened, /has no PID/);
  }
  const store = memoryStore();
  const first = await collector.open(`${link}#PID=person`, { store });
  await first.prepare({});
  await first.send();
  assert.equal((await collector.open(link, { store, invitation: undefined })).state, "accepted");
  await assert.rejects(collector.open(`${link}#PID=another`, { store }), { code: "answered" });
});

test("an address that is a program, or can be read on the way, is refused", async () => {
  for (const url of ["javascript:alert(1)", "http://panel.example", "data:text/html,x", "back"]) {
    for (const name of ["completion_url", "closed_url"]) {
      const { collector, link } = campaign({ [name]: url });
      const opened = collector.open(`${link}#PID=person`, { store: memoryStore() });
      await assert.rejects(opened, /does not begin with https/);
    }
  }
});
