import assert from "node:assert/strict";
import test from "node:test";
import { Bench, connection, declined, failure } from "../testing/bench.ts";

const second = 1000;
const minute = 60 * second;

/** Simulates the hidden frame of an attempt that does not yet exist on the server. */
function watching(): Bench {
  const bench = new Bench({ externalId: "visit-9", externalState: "s-9" }, "frame", {
    watch: { attemptId: "w-1", attemptToken: "t" },
  });
  bench.fault = (_, call) => (call === "progress" ? failure("lost") : undefined);
  return bench;
}

const here = (bench: Bench, made: boolean, attemptId = "w-1"): void => bench.send({ type: "here", attemptId, made });

test("polling starts only once the window has created the attempt", async () => {
  const bench = watching();
  await bench.pass(4 * second);
  here(bench, false);
  await bench.pass(10 * minute);
  bench.send({ type: "wake" });
  bench.send({ type: "network", online: true });
  here(bench, true, "of another window");
  await bench.pass(10 * minute);
  assert.deepEqual(bench.times("progress"), []);
  bench.fault = () => undefined;
  here(bench, true);
  await bench.pass(2 * second);
  assert.deepEqual(
    bench.asked.map(({ ask }) => ask),
    [
      { id: "w-1", token: "t" },
      { id: "w-1", token: "t" },
    ],
  );
  bench.progress = { status: "done", result: connection };
  await bench.pass(29 * minute);
  assert.deepEqual(bench.results, [connection], "half an hour from when the attempt was made");
});

test("polling that started before a slow window's message stops when the message arrives", async () => {
  const bench = watching();
  await bench.pass(20 * second);
  assert.ok(bench.times("progress").length > 1);
  here(bench, false);
  const asked = bench.times("progress").length;
  await bench.pass(minute);
  assert.equal(bench.times("progress").length, asked);
});

test("polling tracks a severed window before and after it creates the attempt", async () => {
  const bench = watching();
  await bench.pass(20 * second);
  assert.equal(bench.times("progress")[0], 5 * second);
  bench.fault = () => undefined;
  bench.progress = { status: "open" };
  await bench.pass(5 * second);
  here(bench, false); // the window was reloaded after it had left
  bench.progress = declined;
  await bench.pass(5 * second);
  assert.equal(bench.results.length, 1);
});

test("popup mode reports a connection once, with the fields of redirect mode", async () => {
  const bench = watching();
  bench.fault = () => undefined;
  const result = {
    ...connection,
    scope: "patient/*.rs",
    consent_expires_at: "2027-02-19T09:30:12Z",
    external_id: "visit-9",
  };
  bench.progress = { status: "done", result };
  here(bench, true);
  await bench.pass(minute);
  assert.deepEqual(bench.results, [result]);
  assert.deepEqual(bench.told("patient.connection_success"), []);
});

test("popup mode reports a failure with the older element's fields, in ASCII", async () => {
  const bench = watching();
  bench.fault = () => undefined;
  bench.progress = {
    status: "failed",
    error: {
      error: "svc_unavailable",
      error_description: "São João",
      request_id: "r-2",
      cause: "no_answer",
      suggested_action: "Wait.",
    },
  };
  here(bench, true);
  await bench.pass(minute);
  assert.deepEqual(bench.results, [
    { error: "svc_server_error", error_description: "Sao Joao", request_id: "r-2", external_state: "s-9" },
  ]);
  assert.deepEqual(bench.told("patient.connection_failed"), []);
});
