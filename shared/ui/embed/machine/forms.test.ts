import assert from "node:assert/strict";
import test from "node:test";
import { Bench, declined, failure } from "../testing/bench.ts";

const email = "mona@example.com";

function atEmail(): Bench {
  return new Bench({ searchOnly: false });
}

test("an address that is none is not sent, and said to be wrong", async () => {
  const bench = atEmail();
  for (const draft of ["", "mona", "mona@", "@example.com", "a b@example.com", "mona@example", "mona@example."]) {
    bench.send({ type: "draft", draft: { email: draft } });
    bench.send({ type: "email" });
  }
  await bench.pass(0);
  assert.equal(bench.asked.length, 0);
  assert.equal(bench.state.judged, 7);
});

test("an address that the page gave is in the field", () => {
  assert.equal(new Bench({ searchOnly: false, email }).state.draft.email, email);
});

test("a wrong code can be mended, and another one asked for after half a minute", async () => {
  const bench = new Bench({ searchOnly: false, email });
  bench.send({ type: "email" });
  await bench.pass(0);
  bench.send({ type: "draft", draft: { code: "12345" } });
  bench.send({ type: "code" });
  await bench.pass(0);
  assert.equal(bench.times("verify").length, 0);
  bench.fault = (_, call) => (call === "verify" ? failure("refused") : undefined);
  bench.send({ type: "draft", draft: { code: "123456" } });
  bench.send({ type: "code" });
  await bench.pass(0);
  assert.equal(bench.state.view, "code");
  assert.equal(bench.state.trouble?.failure.kind, "refused");
  assert.equal(bench.state.canResend, false);
  await bench.pass(30_000);
  assert.equal(bench.state.canResend, true);
  bench.send({ type: "resend" });
  await bench.pass(0);
  assert.equal(bench.times("codes").length, 2);
  assert.equal(bench.state.draft.code, "");
});

test("support gets the reference of what failed, and the proof of the address that it goes with", async () => {
  const bench = new Bench({ searchOnly: false, email });
  bench.send({ type: "email" });
  await bench.pass(0);
  bench.send({ type: "draft", draft: { code: "123456" } });
  bench.send({ type: "code" });
  await bench.pass(0);
  await bench.toWaiting();
  bench.progress = declined;
  await bench.pass(2000);
  bench.send({ type: "show", view: "support" });
  bench.send({ type: "send" });
  assert.equal(bench.state.judged, 1);
  bench.send({ type: "draft", draft: { name: "Mona", subject: "It fails", body: "Always." } });
  bench.send({ type: "send" });
  await bench.pass(0);
  assert.deepEqual(bench.asked.at(-1)?.ask, { email, name: "Mona", subject: "It fails", body: "Always.\n\n[r-2]", email_token: "e-1" });
  assert.equal(bench.state.sent, true);
  bench.send({ type: "back" });
  assert.equal(bench.state.view, "failed");
});

test("a request for what is missing begins with what was searched for, and needs no more than a name and an address", async () => {
  const bench = new Bench({ email });
  bench.send({ type: "type", query: "Zebra clinic" });
  bench.send({ type: "show", view: "missing" });
  bench.send({ type: "send" });
  await bench.pass(0);
  assert.deepEqual(bench.asked.at(-1)?.ask, { email, name: "Zebra clinic", website: undefined, street_address: undefined });
  assert.equal(bench.state.sent, true);
});

test("a form that was not taken keeps what was written", async () => {
  const bench = new Bench({ email });
  bench.fault = () => failure("unavailable");
  bench.send({ type: "show", view: "missing" });
  bench.send({ type: "draft", draft: { hospital: "Zebra" } });
  bench.send({ type: "send" });
  await bench.pass(0);
  assert.equal(bench.state.draft.hospital, "Zebra");
  assert.equal(bench.state.busy, false);
});
