import assert from "node:assert/strict";
import test from "node:test";
import type { CallName, Failure, Standing } from "../api/records.ts";
import { Bench, failure } from "../testing/bench.ts";
import { alive, assertEvents, connected, located, minute, one, second, tefca } from "../testing/network.ts";
import { behind } from "./tefca.ts";

test("polling the network starts at 1.5 s however long the identity check took", async () => {
  const bench = tefca();
  await bench.toVerifying();
  bench.standing = { status: "open", facilities: [] };
  await bench.pass(10 * minute);
  bench.standing = { status: "locating", ...alive, facilities: [] };
  bench.send({ type: "wake" });
  await bench.pass(0);
  const before = bench.times("records").length;
  await bench.pass(6 * second);
  assert.equal(bench.times("records").length - before, 4);
  bench.standing = located(one(1));
  await bench.pass(10 * second);
  const asked = bench.times("records").length;
  await bench.pass(10 * minute);
  assert.equal(bench.times("records").length, asked, "nothing is asked while the patient chooses");
});

test("no facility is preselected, and connecting none shows an error", async () => {
  const bench = tefca();
  await bench.toFacilities(one(1), one(2), connected(3));
  assert.deepEqual(bench.state.tefca?.ticked, []);
  bench.send({ type: "authorize", ids: [] });
  await bench.pass(0);
  assert.deepEqual([bench.times("authorize").length, bench.state.judged], [0, 1]);
  bench.send({ type: "tick", ids: ["urn:oid:2.999.1.1", "urn:oid:2.999.1.2"], on: true });
  bench.send({ type: "tick", ids: ["urn:oid:2.999.1.1"], on: false });
  assert.deepEqual([bench.state.tefca?.ticked, bench.state.judged], [["urn:oid:2.999.1.2"], 0]);
  bench.send({ type: "wake" });
  await bench.pass(0);
  assert.deepEqual(bench.state.tefca?.ticked, ["urn:oid:2.999.1.2"], "a look at the server takes nothing away");
});

/** A choice whose response is delayed until the test releases it. */
function choosing(bench: Bench): () => Promise<void> {
  let answer: () => void = () => undefined;
  const authorizing: Standing = { status: "authorizing", ...alive, facilities: [one(1, { outcome: "connecting" })] };
  bench.answers.authorize = () => new Promise((resolve) => (answer = () => resolve({ ok: true, data: authorizing })));
  bench.send({ type: "authorize", ids: ["urn:oid:2.999.1.1"] });
  return async () => {
    await bench.pass(0);
    answer();
    await bench.pass(0);
  };
}

test("a response to a poll sent before the choice does not end the choice", async () => {
  const bench = tefca();
  await bench.toFacilities(one(1));
  let before: () => void = () => undefined;
  bench.answers.records = () => new Promise((resolve) => (before = () => resolve({ ok: true, data: located(one(1)) })));
  bench.send({ type: "wake" });
  const answer = choosing(bench);
  await answer();
  before();
  await bench.pass(0);
  assert.equal(bench.state.view, "connecting");
});

test("polling pauses while a choice is sent and resumes immediately after", async () => {
  const bench = tefca();
  await bench.toFacilities(one(1));
  const asked = bench.times("records").length;
  const answer = choosing(bench);
  bench.send({ type: "wake" });
  await bench.pass(0);
  assert.equal(bench.times("records").length, asked);
  await answer();
  assert.equal(bench.times("records").length, asked + 1);
});

test("a choice whose response was lost is resent when online and reported once", async () => {
  const bench = tefca();
  await bench.toFacilities(one(1), one(2));
  bench.fault = (_, call) => (call === "authorize" ? failure("network") : undefined);
  bench.send({ type: "tick", ids: ["urn:oid:2.999.1.1"], on: true });
  bench.send({ type: "authorize", ids: ["urn:oid:2.999.1.1"] });
  await bench.pass(0);
  assert.deepEqual(
    [bench.state.view, bench.state.trouble?.failure.kind, bench.state.tefca?.ticked.length],
    ["facilities", "network", 1],
  );
  bench.fault = () => undefined;
  bench.standing = located(connected(1), one(2));
  bench.send({ type: "network", online: true });
  await bench.pass(5 * second);
  assert.equal(bench.state.view, "summary");
  assert.equal(bench.told("patient.connection_success").length, 1);
  assertEvents(bench);
});

test("failed facilities can be retried, and more selected, while the identity check is valid", async () => {
  const bench = tefca();
  await bench.toFacilities(one(1), one(2), one(3));
  bench.standing = located(connected(1), one(2, { outcome: "failed", reason: "unavailable" }), one(3));
  bench.send({ type: "authorize", ids: ["urn:oid:2.999.1.1", "urn:oid:2.999.1.2"] });
  await bench.pass(0);
  assert.equal(bench.state.view, "summary");
  bench.standing = located(connected(1), connected(2), one(3));
  bench.send({ type: "authorize", ids: ["urn:oid:2.999.1.2"] });
  await bench.pass(0);
  bench.send({ type: "choose" });
  assert.deepEqual([bench.state.view, bench.state.tefca?.ticked], ["facilities", []]);
  bench.standing = located(connected(1), connected(2), connected(3));
  bench.send({ type: "authorize", ids: ["urn:oid:2.999.1.3"] });
  await bench.pass(0);
  bench.send({ type: "close" });
  const [complete] = bench.told("widget.complete");
  assert.deepEqual(
    complete && "data" in complete && complete.data,
    [1, 2, 3].map((n) => connected(n).connection),
  );
  assert.equal(bench.told("patient.connection_success").length, 3);
  assertEvents(bench);
});

for (const [what, end] of [
  [
    "refuses the choice",
    (bench: Bench) => (bench.fault = (_, call) => (call === "authorize" ? failure("taken") : undefined)),
  ],
  [
    "says so",
    (bench: Bench) =>
      (bench.standing = { status: "located", facilities: [one(1, { outcome: "failed", reason: "identity_expired" })] }),
  ],
] as const) {
  test(`an expired identity check is repeated when the server ${what}`, async () => {
    const bench = tefca();
    await bench.toFacilities(one(1));
    end(bench);
    bench.send({ type: "authorize", ids: ["urn:oid:2.999.1.1"] });
    await bench.pass(0);
    assert.ok(
      bench.state.view === "failed"
        ? bench.state.ending?.cause === "identity_expired"
        : bench.state.view === "summary" && behind(bench.state) === undefined,
    );
    bench.fault = () => undefined;
    bench.send(bench.state.view === "failed" ? { type: "prepare" } : { type: "restart" });
    await bench.pass(0);
    assert.deepEqual(
      [bench.state.view, bench.state.target?.name, bench.state.tefca?.standing],
      ["institution", "Aspen ID", undefined],
    );
    bench.send({ type: "leave" });
    assert.match(bench.opened.at(-1) ?? "", /identity-2$/);
    bench.standing = located(connected(1));
    bench.send({ type: "wake" });
    await bench.pass(0);
    assert.deepEqual([bench.state.view, bench.state.current], ["facilities", "identity-2"]);
    assertEvents(bench);
  });
}

test("connections completed before the attempt expired are reported after it expires", async () => {
  const bench = tefca();
  await bench.toFacilities(one(1), one(2));
  bench.standing = { status: "authorizing", ...alive, facilities: [one(1, { outcome: "connecting" }), one(2)] };
  bench.send({ type: "authorize", ids: ["urn:oid:2.999.1.1"] });
  await bench.pass(0);
  bench.standing = { status: "expired", ...alive, facilities: [connected(1), one(2)] };
  await bench.pass(2 * second);
  assert.deepEqual([bench.state.view, behind(bench.state)], ["summary", undefined]);
  assert.equal(bench.told("patient.connection_success").length, 1);
  assertEvents(bench);
});

test("facilities beyond the server's limit can be selected in a second request", async () => {
  const many = Array.from({ length: 60 }, (_, n) => one(n));
  const bench = tefca();
  await bench.toFacilities(...many);
  bench.send({ type: "authorize", ids: many.map((each) => each.tefca_directory_id) });
  await bench.pass(0);
  assert.equal((bench.asked.at(-1)?.ask as { ids: string[] }).ids.length, 50);
});

test("closing asks for confirmation while work is in progress, but not during the choice", async () => {
  const bench = tefca();
  const asks = async (standing: Standing): Promise<boolean> => {
    bench.standing = standing;
    bench.send({ type: "wake" });
    await bench.pass(0);
    bench.send({ type: "close" });
    const { leaving } = bench.state;
    bench.send({ type: "stay" });
    return leaving;
  };
  await bench.toVerifying();
  assert.equal(await asks({ status: "open", facilities: [] }), true);
  assert.equal(await asks({ status: "locating", ...alive, facilities: [] }), true);
  assert.equal(await asks({ status: "authorizing", ...alive, facilities: [one(1, { outcome: "connecting" })] }), true);
  bench.send({ type: "close" });
  bench.standing = located(connected(1));
  await bench.pass(2 * second);
  assert.deepEqual(
    [bench.state.view, bench.state.leaving],
    ["summary", false],
    "who is asked need not answer any more",
  );
  bench.send({ type: "choose" });
  assert.equal(await asks(located(connected(1))), false);
  assert.deepEqual([bench.closed, bench.told("widget.complete").length], [1, 1]);
});

test("polling the network survives connection loss and stops after 30 minutes", async () => {
  const bench = tefca();
  await bench.toVerifying();
  bench.standing = { status: "locating", ...alive, facilities: [] };
  await bench.pass(2 * second);
  const fault = (_: number, call: CallName): Failure | undefined =>
    call === "records" ? failure("network") : undefined;
  bench.fault = fault;
  await bench.pass(10 * second);
  assert.equal(bench.state.view, "locating");
  assert.ok((bench.state.attempts[0]?.misses ?? 0) > 1);
  bench.fault = () => undefined;
  await bench.pass(31 * minute);
  assert.deepEqual([bench.state.view, bench.state.ending?.cause], ["failed", "expired"]);
});
