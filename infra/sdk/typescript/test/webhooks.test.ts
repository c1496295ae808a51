import assert from "node:assert/strict";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import { verifyWebhook } from "../src/index.js";

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const body = JSON.stringify({ api_mode: "test", id: "e", type: "patient.ehi_export_failed", data: { task_id: "t" } });

function headers(at = new Date()): Record<string, string> {
  return {
    "Webhook-Id": "e",
    "Webhook-Timestamp": `${Math.floor(at.getTime() / 1000)}`,
    "Webhook-Signature": new Webhook(secret).sign("e", at, body),
  };
}

test("a signed event is returned with its type", () => {
  for (const given of [headers(), new Headers(headers())]) {
    const event = verifyWebhook(Buffer.from(body), given, secret);
    assert.equal(event.type === "patient.ehi_export_failed" && event.data.task_id, "t");
  }
});

test("a changed body, another secret and an old request are rejected", () => {
  const other = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
  assert.throws(() => verifyWebhook(`${body} `, headers(), secret));
  assert.throws(() => verifyWebhook(body, headers(), other));
  assert.throws(() => verifyWebhook(body, headers(new Date(Date.now() - 600_000)), secret));
  assert.throws(() => verifyWebhook(body, {}, secret));
});
