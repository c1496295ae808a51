import assert from "node:assert/strict";
import test from "node:test";
import { Bench, connection, declined, ids } from "../testing/bench.ts";
import { ascii } from "./events.ts";

const mine = { externalId: "visit-9", externalState: "state-1" };

test("pending and success events have the documented fields and omit missing values", async () => {
  const bench = new Bench(mine);
  await bench.toWaiting();
  bench.progress = { status: "done", result: { ...connection, external_id: "visit-9" } };
  await bench.pass(2000);
  const institution = { brand_id: ids.brand, portal_id: ids.portal, endpoint_id: ids.endpoint };
  const data = { public_id: "public_live_1", ...institution, external_id: "visit-9", external_state: "state-1" };
  assert.deepEqual(bench.events, [
    { api_mode: "live", event_type: "patient.connection_pending", data },
    { api_mode: "live", event_type: "patient.connection_success", data: { ...connection, external_id: "visit-9" } },
  ]);

  const plain = new Bench();
  await plain.toWaiting();
  plain.progress = { status: "done", result: connection };
  await plain.pass(2000);
  assert.deepEqual(Object.keys(plain.events[0] && "data" in plain.events[0] ? plain.events[0].data : {}).sort(), [
    "brand_id",
    "endpoint_id",
    "portal_id",
    "public_id",
  ]);
});

test("a failed event has the documented fields and an ASCII description", async () => {
  const bench = new Bench(mine);
  await bench.toWaiting();
  const error = {
    error: "svc_unavailable",
    error_description: "São João’s portal — down",
    request_id: "r-2",
    cause: "no_answer",
    suggested_action: "Wait.",
  };
  bench.progress = { ...declined, error };
  await bench.pass(2000);
  assert.deepEqual(bench.events[1], {
    api_mode: "live",
    event_type: "patient.connection_failed",
    data: {
      ...{
        endpoint_id: ids.endpoint,
        portal_id: ids.portal,
        brand_id: ids.brand,
        platform_type: "sandbox",
        request_id: "r-2",
      },
      ...{
        error: "svc_server_error",
        error_description: "Sao Joao's portal - down",
        external_id: "visit-9",
        external_state: "state-1",
      },
    },
  });
});

test("ascii strips accents and drops other characters", () => {
  assert.equal(ascii("Ñandú “x” \u{1f600} y\nz"), 'Nandu "x" y z');
  assert.match(ascii("é".repeat(500)), /^e{200}$/);
});
