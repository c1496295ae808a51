import assert from "node:assert/strict";
import test from "node:test";
import { Bench, connection, declined, failure, hit, portal } from "../testing/bench.ts";

const second = 1000;
const minute = 60 * second;

test("the window opens within the click, with a prepared attempt's start value", async () => {
  const bench = new Bench();
  await bench.toInstitution();
  assert.equal(bench.opened.length, 0);
  bench.send({ type: "leave" });
  assert.deepEqual(bench.opened, ["https://svc.example/v1/bridge/connect attempt-1"]);
  assert.equal(bench.state.view, "waiting");
});

test("polling slows from 1.5 s to 3 s and 5 s and stops after 30 minutes", async () => {
  const bench = new Bench();
  await bench.toWaiting();
  await bench.pass(60 * minute);
  const left = 200; // the search's debounce
  const times = bench.times("progress").map((at) => at - left);
  assert.deepEqual(times.slice(0, 3), [1500, 3000, 4500]);
  const gaps = times.map((at, i) => [at, at - (times[i - 1] ?? 0)] as const);
  assert.ok(
    gaps.every(([at, gap]) => gap === (at <= 30 * second ? 1500 : at <= 2 * minute ? 3000 : 5000)),
    JSON.stringify(gaps),
  );
  assert.equal(times.at(-1), 30 * minute);
  assert.equal(bench.state.view, "failed");
  assert.equal(bench.state.ending?.cause, "expired");
});

test("a nudge triggers a poll immediately, or after the poll in flight", async () => {
  const bench = new Bench();
  await bench.toWaiting();
  const answers: (() => void)[] = [];
  bench.answers.progress = () =>
    new Promise((answer) => answers.push(() => answer({ ok: true, data: bench.progress })));
  bench.send({ type: "wake" });
  bench.send({ type: "wake" });
  bench.send({ type: "wake" });
  await bench.pass(0);
  assert.equal(answers.length, 1);
  bench.progress = { status: "done", result: connection };
  answers[0]?.();
  await bench.pass(0);
  assert.equal(bench.state.view, "connected");
});

test("a nudge during a failing poll triggers another poll", async () => {
  const bench = new Bench();
  await bench.toWaiting();
  let answer: () => void = () => undefined;
  const usual = bench.answers.progress;
  bench.answers.progress = () =>
    new Promise((resolve) => (answer = () => resolve({ ok: true, data: { status: "open" } })));
  bench.send({ type: "wake" });
  bench.send({ type: "wake" });
  await bench.pass(0);
  bench.answers.progress = usual;
  bench.progress = { status: "done", result: connection };
  answer();
  await bench.pass(0);
  assert.equal(bench.state.view, "connected");
});

test("a closed window does not end the attempt", async () => {
  const bench = new Bench();
  const id = await bench.toWaiting();
  bench.send({ type: "windows", closed: [id], focused: false });
  assert.equal(bench.told("patient.connection_pending").length, 0, "a portal has severed the window");
  bench.send({ type: "windows", closed: [id], focused: true });
  bench.send({ type: "windows", closed: [id], focused: true });
  assert.equal(bench.told("patient.connection_pending").length, 1);
  assert.equal(bench.state.view, "waiting");
  bench.progress = { status: "done", result: connection };
  await bench.pass(2 * second);
  assert.equal(bench.state.view, "connected");
  assert.deepEqual(
    bench.events.map((event) => event.event_type),
    ["patient.connection_pending", "patient.connection_success"],
  );
});

test("the patient's initials are kept for the success view and never reported", async () => {
  const bench = new Bench();
  await bench.toWaiting();
  bench.progress = { status: "done", result: connection, patient_initials: "A. S." };
  await bench.pass(2 * second);
  assert.equal(bench.state.latest?.initials, "A. S.");
  assert.doesNotMatch(JSON.stringify([bench.events, bench.results]), /A\. S\./);
});

test("only a response after the delay is announced as slow", async () => {
  const bench = new Bench();
  bench.answers.prepare = () => new Promise(() => undefined);
  await bench.toInstitution();
  await bench.pass(5 * second);
  assert.equal(bench.state.slow, false);
  await bench.pass(2 * second);
  assert.equal(bench.state.slow, true);
  const early = new Bench();
  await early.toInstitution();
  await early.pass(10 * second);
  assert.equal(early.state.slow, false);
});

test("an endpoint of a merged portal is requested with its own portal", async () => {
  const bench = new Bench();
  const merged = { ...portal("p1", ["e1", "e2"]), owners: { e1: "p1", e2: "p2" } };
  bench.answers.search = () => ({ ok: true, data: { total: 1, hits: [hit("b", [merged])] } });
  bench.answers.endpoint = () => ({ ok: true, data: { id: "e2", health: "ok", platformType: "sandbox" } });
  await bench.toInstitution("b");
  const { ask } = bench.asked.find(({ call }) => call === "prepare") ?? {};
  assert.deepEqual(
    [(ask as { endpoint_id: string }).endpoint_id, (ask as { portal_id: string }).portal_id],
    ["e2", "p2"],
  );
});

test("a window that can't be brought to the front can be reopened", async () => {
  const bench = new Bench();
  const id = await bench.toWaiting();
  bench.progress = { status: "open" };
  await bench.pass(2 * second);
  bench.send({ type: "raise" });
  assert.deepEqual(bench.raised, [id]);
  await bench.pass(2 * second);
  bench.send({ type: "raise" });
  assert.equal(bench.opened.length, 2);

  const other = new Bench();
  await other.toWaiting();
  other.send({ type: "raise" });
  other.send({ type: "windows", closed: [], focused: false }); // the window came to the front
  await other.pass(3 * second);
  other.send({ type: "raise" });
  assert.equal(other.opened.length, 1);
});

test("a window without a handle does not count as closed", async () => {
  const bench = new Bench();
  bench.how = "unseen";
  const id = await bench.toWaiting();
  bench.send({ type: "windows", closed: [id], focused: true });
  assert.equal(bench.state.attempts[0]?.closed, false);
  bench.progress = { status: "done", result: connection };
  await bench.pass(2 * second);
  assert.equal(bench.state.view, "connected");
});

test("a window without a handle is tracked from its first message", async () => {
  const bench = new Bench();
  bench.how = "unseen";
  const id = await bench.toWaiting();
  bench.send({ type: "opened", id, how: "seen" });
  bench.send({ type: "raise" });
  assert.deepEqual(bench.raised, [id]);
  bench.send({ type: "windows", closed: [id], focused: true });
  assert.equal(bench.told("patient.connection_pending").length, 1);
  bench.send({ type: "opened", id: "unknown", how: "seen" });
  assert.equal(
    bench.state.attempts.some((a) => a.id === "unknown"),
    false,
  );
});

test("one click focuses an open window or opens a new attempt for a closed one", async () => {
  const bench = new Bench();
  const id = await bench.toWaiting();
  bench.send({ type: "raise" });
  assert.deepEqual(bench.raised, [id]);
  bench.send({ type: "windows", closed: [id], focused: false });
  bench.send({ type: "windows", closed: [id], focused: true });
  bench.send({ type: "windows", closed: [id], focused: true });
  await bench.pass(0);
  assert.equal(bench.times("prepare").length, 2);
  assert.equal(bench.state.current, id, "the first one may come back yet");
  bench.send({ type: "raise" });
  assert.deepEqual(
    bench.opened.map((url) => url.slice(-9)),
    ["attempt-1", "attempt-2"],
  );
  assert.equal(bench.state.view, "waiting");
  bench.answers.progress = ({ id: asked }) => ({
    ok: true,
    data: asked === id ? { status: "created" } : { status: "done", result: connection },
  });
  await bench.pass(2 * second);
  assert.equal(bench.state.view, "connected");
});

test("one click reopens a window without a handle when the patient returns", async () => {
  const bench = new Bench();
  bench.how = "unseen";
  await bench.toWaiting();
  bench.send({ type: "windows", closed: [], focused: false });
  bench.progress = { status: "open" };
  await bench.pass(2 * second);
  assert.equal(bench.times("prepare").length, 1);
  bench.send({ type: "windows", closed: [], focused: true });
  await bench.pass(0);
  bench.send({ type: "raise" });
  assert.match(bench.opened.at(-1) ?? "", /attempt-2$/);
});

test("a failed reserve attempt is created again on click", async () => {
  const bench = new Bench();
  const id = await bench.toWaiting();
  bench.fault = (_, call) => (call === "prepare" ? failure("unavailable") : undefined);
  bench.send({ type: "windows", closed: [id], focused: true });
  await bench.pass(0);
  assert.equal(bench.state.view, "waiting");
  assert.equal(bench.state.trouble, undefined);
  bench.fault = () => undefined;
  bench.send({ type: "raise" });
  bench.send({ type: "raise" });
  await bench.pass(0);
  assert.equal(bench.opened.length, 2);
  assert.equal(bench.state.view, "waiting");
});

test("a click opens the window when the reserve attempt becomes ready", async () => {
  const bench = new Bench();
  const id = await bench.toWaiting();
  bench.send({ type: "windows", closed: [id], focused: true });
  bench.send({ type: "raise" });
  assert.equal(bench.opened.length, 1);
  await bench.pass(0);
  assert.equal(bench.opened.length, 2);
  assert.equal(bench.times("prepare").length, 2);
});

test("a window that cannot be reopened shows an error with a next step", async () => {
  const bench = new Bench();
  const id = await bench.toWaiting();
  bench.fault = (_, call) => (call === "prepare" ? failure("network") : undefined);
  bench.send({ type: "windows", closed: [id], focused: true });
  bench.send({ type: "raise" });
  await bench.pass(0);
  assert.equal(bench.state.view, "institution");
  assert.equal(bench.state.trouble?.failure.kind, "network");
  bench.fault = () => undefined;
  bench.send({ type: "retry" });
  await bench.pass(0);
  bench.send({ type: "leave" });
  assert.equal(bench.opened.length, 2);
});

test("a reserve attempt that arrives after the end is ignored", async () => {
  const bench = new Bench();
  const id = await bench.toWaiting();
  const held = bench.answers.prepare;
  let answer: () => void = () => undefined;
  bench.answers.prepare = (ask) => new Promise((resolve) => (answer = () => resolve(held(ask))));
  bench.send({ type: "windows", closed: [id], focused: true });
  bench.progress = { status: "done", result: connection };
  await bench.pass(2 * second);
  answer();
  await bench.pass(0);
  assert.equal(bench.state.view, "connected");
  assert.equal(bench.state.attempts.length, 0);
});

test("a stale reserve attempt is not opened", async () => {
  const bench = new Bench();
  const id = await bench.toWaiting();
  bench.send({ type: "windows", closed: [id], focused: true });
  await bench.pass(0);
  bench.sleep(29.5 * minute);
  bench.send({ type: "raise" });
  assert.equal(bench.opened.length, 1);
  await bench.pass(0);
  assert.match(bench.opened.at(-1) ?? "", /attempt-3$/);
});

for (const [what, change, isTold] of [
  ["opens nothing either", () => undefined, true],
  [
    "was opened elsewhere, which has the focus",
    (bench: Bench) => bench.send({ type: "windows", closed: [], focused: false }),
    false,
  ],
  ["was opened behind this window", (bench: Bench) => (bench.progress = { status: "open" }), false],
  ["cannot be judged without a network", (bench: Bench) => (bench.fault = () => failure("network")), false],
] as const) {
  // A sandbox without allow-forms consumes the click and opens no window.
  for (const how of ["blocked", "unseen"] as const)
    test(`a window (${how}) whose button ${what}`, async () => {
      const bench = new Bench();
      bench.how = how;
      await bench.toWaiting();
      await bench.pass(20 * second);
      assert.equal(bench.state.view, "waiting", "an extension may have blocked the window, and leave the button alone");
      bench.send({ type: "followed" });
      change(bench);
      await bench.pass(7 * second);
      assert.equal(bench.state.view, isTold ? "config_error" : "waiting");
      assert.equal(bench.told("widget.config_error").length, isTold ? 1 : 0);
      if (isTold) assert.match(bench.reasons.at(-1) ?? "", /allow-popups/);
    });
}

test("polling survives network loss and resumes immediately when online", async () => {
  const bench = new Bench();
  await bench.toWaiting();
  bench.fault = (_, call) => (call === "progress" ? failure("network") : undefined);
  await bench.pass(10 * second);
  assert.equal(bench.state.view, "waiting");
  assert.ok((bench.state.attempts[0]?.misses ?? 0) > 1);
  bench.fault = () => undefined;
  bench.progress = { status: "done", result: connection };
  bench.send({ type: "network", online: false });
  bench.send({ type: "network", online: true });
  await bench.pass(0);
  assert.equal(bench.state.view, "connected");
});

test("polling honours Retry-After", async () => {
  const bench = new Bench();
  await bench.toWaiting();
  bench.fault = (_, call) => (call === "progress" ? failure("limited", { retryAfter: 20 * second }) : undefined);
  await bench.pass(41 * second);
  assert.deepEqual(
    bench.times("progress").map((at) => at - 200),
    [1500, 21_500],
  );
});

test("an unknown attempt is lost, and the patient can start again", async () => {
  const bench = new Bench();
  await bench.toWaiting();
  bench.fault = (_, call) => (call === "progress" ? failure("lost") : undefined);
  await bench.pass(2 * second);
  assert.equal(bench.state.ending?.cause, "lost");
  bench.send({ type: "prepare" });
  await bench.pass(0);
  bench.send({ type: "leave" });
  assert.equal(bench.opened.length, 2);
});

test("an older attempt's failure is emitted without replacing the newer view", async () => {
  const bench = new Bench();
  const first = await bench.toWaiting();
  bench.send({ type: "windows", closed: [first], focused: true });
  await bench.pass(0); // creates the reserve attempt
  bench.send({ type: "raise" });
  bench.answers.progress = ({ id }) => ({ ok: true, data: id === first ? declined : { status: "open" } });
  await bench.pass(3 * second);
  assert.equal(bench.state.view, "waiting");
  assert.equal(bench.told("patient.connection_failed").length, 1);
});

test("a connection made twice is listed once in widget.complete", async () => {
  const bench = new Bench();
  await bench.toWaiting();
  bench.progress = { status: "done", result: connection };
  await bench.pass(2 * second);
  bench.send({ type: "restart" });
  await bench.toWaiting();
  await bench.pass(2 * second);
  bench.send({ type: "close" });
  assert.deepEqual(bench.told("widget.complete"), [
    { api_mode: "live", event_type: "widget.complete", data: [connection] },
  ]);
});

test("an unused attempt is replaced before it expires", async () => {
  const bench = new Bench();
  await bench.toInstitution();
  await bench.pass(29 * minute);
  assert.equal(bench.times("prepare").length, 2);
  bench.send({ type: "leave" });
  assert.match(bench.opened[0] ?? "", /attempt-2$/);
});

test("a click after a long sleep creates a new attempt", async () => {
  const bench = new Bench();
  await bench.toInstitution();
  bench.sleep(31 * minute);
  bench.send({ type: "leave" });
  assert.equal(bench.opened.length, 0);
  await bench.pass(0);
  bench.send({ type: "leave" });
  assert.match(bench.opened[0] ?? "", /attempt-2$/);
});

test("an outcome does not replace an open form", async () => {
  const bench = new Bench();
  await bench.toWaiting();
  bench.send({ type: "show", view: "support" });
  bench.send({ type: "draft", draft: { body: "It does not" } });
  bench.progress = { status: "done", result: connection };
  await bench.pass(2 * second);
  assert.equal(bench.state.view, "support");
  assert.equal(bench.state.draft.body, "It does not");
  bench.send({ type: "back" });
  assert.equal(bench.state.view, "connected");
});

test("a portal error is shown before any window opens", async () => {
  const bench = new Bench();
  bench.fault = (_, call) => (call === "prepare" ? failure("unavailable", { error: "svc_unavailable" }) : undefined);
  await bench.toInstitution();
  assert.equal(bench.state.view, "failed");
  assert.equal(bench.state.ending?.requestId, "r-9");
  assert.equal(bench.opened.length, 0);
});

test("a standalone window creates the given attempt, navigates, and works only once", async () => {
  const bench = new Bench({}, "window", { own: { id: "w-1", hash: "h" } });
  await bench.toInstitution();
  assert.equal(bench.times("prepare").length, 0);
  bench.send({ type: "leave" });
  await bench.pass(0);
  const sent = bench.asked.find((one) => one.call === "prepare")?.ask as Record<string, unknown>;
  assert.equal(sent["attempt_id"], "w-1");
  assert.equal(sent["token_hash"], "h");
  assert.deepEqual(bench.left, ["https://svc.example/v1/bridge/connect attempt-1"]);
  bench.send({ type: "prepare" });
  bench.fault = (_, call) => (call === "prepare" ? failure("taken") : undefined);
  bench.send({ type: "leave" });
  await bench.pass(0);
  assert.equal(bench.state.ending?.cause, "taken");
});
