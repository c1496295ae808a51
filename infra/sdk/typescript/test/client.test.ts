import assert from "node:assert/strict";
import { test } from "node:test";
import { RecordbridgeError } from "../src/index.js";
import { clientOf, json, serve } from "./server.js";

const connection = { kind: "portal", org_connection_id: "c", status: "authorized" };

test("a request carries the key pair and returns the data", async (t) => {
  const base = await serve(t, ({ headers, url }, response) => {
    assert.equal(headers.authorization, `Basic ${Buffer.from("public_test_1:key").toString("base64")}`);
    assert.equal(url, "/bridge/org_connection/c%2F1");
    json(response, 200, { success: true, data: connection });
  });
  assert.deepEqual(await clientOf(base).client.getConnection("c/1"), connection);
});

test("a rejected request throws the API's error", async (t) => {
  const failure = { success: false, error: "svc_not_found", error_description: "Not found.", request_id: "r" };
  const base = await serve(t, (_, response) => json(response, 404, failure));
  await assert.rejects(clientOf(base).client.getExport("t"), (error: RecordbridgeError) => {
    assert.ok(error instanceof RecordbridgeError);
    const { code, message, status, requestId } = error;
    assert.deepEqual({ code, message, status, requestId }, {
      code: "svc_not_found", message: "Not found.", status: 404, requestId: "r",
    });
    return true;
  });
});

test("transient failures are repeated after the requested time", async (t) => {
  const base = await serve(t, (request, response, count) => {
    if (count === 0) return json(response, 429, {}, { "retry-after": "3" });
    if (count === 1) return void request.socket.destroy();
    if (count === 2) return json(response, 500, {});
    json(response, 200, { success: true, data: { task_id: "t", status: "pending" } });
  });
  const { client, pauses } = clientOf(base);
  assert.deepEqual(await client.createExport({ org_connection_id: "c" }), { task_id: "t", status: "pending" });
  assert.equal(pauses[0], 3000);
  assert.ok(pauses.length === 3 && pauses[1]! >= 1000 && pauses[1]! < 2000);
});

test("a failure that lasts is thrown after five attempts", async (t) => {
  const base = await serve(t, (_, response) => json(response, 503, { error: "svc_unavailable", error_description: "Busy." }));
  const { client, pauses } = clientOf(base);
  await assert.rejects(client.getExport("t"), { code: "svc_unavailable", status: 503 });
  assert.equal(pauses.length, 4);
});

test("a failure is thrown at once if the requested pause is too long", async (t) => {
  const failure = { error: "svc_rate_limited", error_description: "Wait." };
  const base = await serve(t, (_, response) => json(response, 429, failure, { "retry-after": "121" }));
  const { client, pauses } = clientOf(base);
  await assert.rejects(client.getExport("t"), { code: "svc_rate_limited", status: 429 });
  assert.deepEqual(pauses, []);
});

test("events are read page by page", async (t) => {
  const asked: (string | null)[] = [];
  const base = await serve(t, ({ url = "" }, response, count) => {
    const query = new URL(url, "http://x").searchParams;
    asked.push(query.get("after"));
    assert.equal(query.get("types"), "webhook.test,patient.ehi_export_success");
    const events = count === 1 ? [] : [{ id: `${count}a` }, { id: `${count}b` }];
    json(response, 200, { success: true, data: { events, after: `cursor${count}`, has_more: count < 2 } });
  });
  const found: [string, string][] = [];
  const options = { after: "start", types: ["webhook.test" as const, "patient.ehi_export_success" as const] };
  for await (const { event, after } of clientOf(base).client.events(options)) found.push([event.id, after]);
  assert.deepEqual(asked, ["start", "cursor0", "cursor1"]);
  assert.deepEqual(found, [["0a", "start"], ["0b", "cursor0"], ["2a", "cursor1"], ["2b", "cursor2"]]);
});
