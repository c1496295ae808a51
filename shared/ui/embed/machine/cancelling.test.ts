import assert from "node:assert/strict";
import test from "node:test";
import { Bench, cancelled, connection, failure } from "../testing/bench.ts";

const second = 1000;

test("cancelling ends the attempt on the server, closes its window and prepares a new attempt", async () => {
  const bench = new Bench();
  const id = await bench.toWaiting();
  bench.send({ type: "cancel" });
  assert.deepEqual(bench.shut, [id]);
  assert.equal(bench.state.view, "institution");
  await bench.pass(60 * second);
  assert.deepEqual(
    bench.asked.filter(({ call }) => call === "cancel").map(({ ask }) => ask),
    [{ id, token: `token-${id}` }],
  );
  assert.deepEqual(
    bench.state.attempts.map((a) => a.id),
    ["attempt-2"],
  );
  assert.equal(bench.times("progress").length, 0);
  assert.deepEqual(bench.events, [], "nothing failed");
});

test("going back from the waiting view cancels the attempt", async () => {
  const bench = new Bench();
  await bench.toWaiting();
  bench.send({ type: "back" });
  await bench.pass(0);
  assert.equal(bench.times("cancel").length, 1);
});

test("a sign-in that completed before it was cancelled is shown as connected", async () => {
  const bench = new Bench();
  await bench.toWaiting();
  bench.cancelled = { status: "done", result: connection };
  bench.send({ type: "cancel" });
  await bench.pass(0);
  assert.equal(bench.state.view, "connected");
  assert.deepEqual(
    bench.events.map((event) => event.event_type),
    ["patient.connection_pending", "patient.connection_success"],
  );
});

test("an unconfirmed cancellation is repeated until the server confirms it or returns a result", async () => {
  const bench = new Bench();
  await bench.toWaiting();
  bench.fault = (_, call) => (call === "cancel" ? failure("network") : undefined);
  bench.send({ type: "cancel" });
  await bench.pass(5 * second);
  assert.ok(bench.times("cancel").length > 2, `${bench.times("cancel").length} requests`);
  bench.fault = () => undefined;
  bench.cancelled = { status: "done", result: connection };
  await bench.pass(5 * second);
  assert.equal(bench.state.connected.length, 1);
});

test("closing during a sign-in waits for the cancellation, then closes", async () => {
  const bench = new Bench({ eventTypes: ["widget.exit"] });
  await bench.toWaiting();
  bench.send({ type: "close" });
  assert.equal(bench.state.leaving, true);
  bench.send({ type: "close_now" });
  assert.equal(bench.state.view, "stopping");
  assert.equal(bench.closed, 0);
  await bench.pass(0);
  assert.equal(bench.closed, 1);
  assert.deepEqual(
    bench.events.map((event) => event.event_type),
    ["widget.exit", "widget.complete"],
  );
  assert.deepEqual(bench.told("widget.exit"), [
    { api_mode: "live", event_type: "widget.exit", data: { reason: "cancelled", view: "stopping" } },
  ]);
});

test("closing during a sign-in that was already complete shows the connection instead", async () => {
  const bench = new Bench();
  await bench.toWaiting();
  bench.cancelled = { status: "done", result: connection };
  bench.send({ type: "close" });
  bench.send({ type: "close_now" });
  await bench.pass(10 * second);
  assert.equal(bench.state.view, "connected");
  assert.equal(bench.closed, 0);
  bench.send({ type: "close" });
  assert.deepEqual(bench.told("widget.complete"), [
    { api_mode: "live", event_type: "widget.complete", data: [connection] },
  ]);
});

test("closing stops waiting for a server that does not respond", async () => {
  const bench = new Bench();
  await bench.toWaiting();
  bench.answers.cancel = () => new Promise(() => undefined);
  bench.send({ type: "close" });
  bench.send({ type: "close_now" });
  await bench.pass(3 * second);
  assert.equal(bench.closed, 0);
  await bench.pass(2 * second);
  assert.equal(bench.closed, 1);
});

test("cancelling an identity check that was already complete continues with its records", async () => {
  const bench = new Bench({ tefcaMode: true });
  await bench.toVerifying();
  bench.answers.cancel = () => ({ ok: true, data: { status: "locating" as "open" } });
  bench.standing = { status: "located", identity_expires_at: "2026-11-21T10:00:00Z", facilities: [] };
  bench.send({ type: "cancel" });
  await bench.pass(5 * second);
  assert.equal(bench.state.view, "facilities");
  assert.equal(bench.times("cancel").length, 1);
});

test("closing after the identity check does not cancel the server's work", async () => {
  const bench = new Bench({ tefcaMode: true });
  await bench.toFacilities();
  bench.send({ type: "close_now" });
  await bench.pass(0);
  assert.equal(bench.times("cancel").length, 0);
  assert.equal(bench.closed, 1);
});

test("a cancelled attempt's response is not reported as a failure", async () => {
  const bench = new Bench();
  await bench.toWaiting();
  bench.cancelled = cancelled;
  bench.send({ type: "cancel" });
  await bench.pass(0);
  assert.deepEqual(bench.told("patient.connection_failed"), []);
});
