import assert from "node:assert/strict";
import test from "node:test";
import type { Config } from "../../kit/protocol.ts";
import { Bench, connection, declined, failure, ids } from "../testing/bench.ts";
import { addressOf } from "./forms.ts";

const email = "mona@example.com";

function atEmail(): Bench {
  return new Bench({ searchOnly: false });
}

test("an invalid email address is rejected before it is sent", async () => {
  const bench = atEmail();
  for (const draft of ["", "mona", "mona@", "@example.com", "a b@example.com", "mona@example", "mona@example."]) {
    bench.send({ type: "draft", draft: { email: draft } });
    bench.send({ type: "email" });
  }
  await bench.pass(0);
  assert.equal(bench.asked.length, 0);
  assert.equal(bench.state.judged, 7);
});

test("an email address is normalised for the server", () => {
  for (const [typed, sent] of [
    [" mona@example.com ", "mona@example.com"],
    ["Mona.O'Neill+records@Example.COM", "Mona.O'Neill+records@example.com"],
    ["mona@müller.example", "mona@xn--mller-kva.example"],
    ["mona@病院.example", "mona@xn--0rys90e.example"],
    ["mona@xn--mller-kva.example", "mona@xn--mller-kva.example"],
    ["jürgen@example.com", ""],
    [".mona@example.com", ""],
    ["mona..a@example.com", ""],
    ['"mona"@example.com', ""],
    ["mona@192.0.2.1", ""],
    ["mona@[::1]", ""],
    ["mona@example.com:80", ""],
    ["mona@ex%61mple.com", ""],
    ["mona@example.com/x", ""],
    ["mona@a@example.com", ""],
    ["mona@-example.com", ""],
    ["mona@example.com.", ""],
  ] as const) {
    assert.equal(addressOf(typed), sent, typed);
  }
});

test("the email field is prefilled with the page's address", () => {
  assert.equal(new Bench({ searchOnly: false, email }).state.draft.email, email);
});

test("a wrong code can be corrected, and resent after 30 seconds", async () => {
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

test("a support request contains the failed request's ID and the email proof", async () => {
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
  assert.deepEqual(bench.asked.at(-1)?.ask, {
    email,
    name: "Mona",
    subject: "It fails",
    body: "Always.\n\n[r-2]",
    email_token: "e-1",
    health_system: `Alder ${ids.brand}`,
  });
  assert.equal(bench.state.sent, true);
  bench.send({ type: "back" });
  assert.equal(bench.state.view, "failed");
});

test("a missing-institution request is prefilled with the query and requires only name and email", async () => {
  const bench = new Bench({ email });
  bench.send({ type: "type", query: "Zebra clinic" });
  bench.send({ type: "show", view: "missing" });
  bench.send({ type: "send" });
  await bench.pass(0);
  assert.deepEqual(bench.asked.at(-1)?.ask, {
    email,
    email_token: undefined,
    name: "Zebra clinic",
    website: undefined,
    street_address: undefined,
  });
  assert.equal(bench.state.sent, true);
});

test("a rejected form keeps its input", async () => {
  const bench = new Bench({ email });
  bench.fault = () => failure("unavailable");
  bench.send({ type: "show", view: "missing" });
  bench.send({ type: "draft", draft: { hospital: "Zebra" } });
  bench.send({ type: "send" });
  await bench.pass(0);
  assert.equal(bench.state.draft.hospital, "Zebra");
  assert.equal(bench.state.busy, false);
});

/** Passes the email step with a code. */
async function proven(config: Partial<Config> = {}): Promise<Bench> {
  const bench = new Bench({ searchOnly: false, email, ...config });
  bench.send({ type: "email" });
  await bench.pass(0);
  bench.send({ type: "draft", draft: { code: "123456" } });
  bench.send({ type: "code" });
  await bench.pass(0);
  assert.equal(bench.state.view, "search");
  return bench;
}

/** Returns the email proof that a missing-institution request contains. */
async function sentProof(bench: Bench, address = email): Promise<unknown> {
  bench.send({ type: "show", view: "missing" });
  bench.send({ type: "draft", draft: { hospital: "Zebra", email: address } });
  bench.send({ type: "send" });
  await bench.pass(0);
  const { email_token, email: sent } = bench.asked.at(-1)?.ask as { email: string; email_token?: string };
  assert.equal(sent, address);
  return email_token;
}

test("a missing-institution request contains only its own address's proof", async () => {
  assert.equal(await sentProof(await proven()), "e-1");
  assert.equal(await sentProof(await proven(), "other@example.com"), undefined);
});

test("an expired email proof is not sent, and the email step repeats", async () => {
  const bench = await proven();
  await bench.toInstitution();
  bench.sleep(61 * 60_000);
  bench.send({ type: "back" });
  assert.equal(await sentProof(bench), undefined);
  bench.send({ type: "back" });
  bench.send({ type: "pick", id: ids.brand });
  assert.equal(bench.state.view, "email");
  assert.equal(bench.state.draft.email, email);
  bench.send({ type: "email" });
  await bench.pass(0);
  bench.send({ type: "draft", draft: { code: "123456" } });
  bench.send({ type: "code" });
  await bench.pass(0);
  bench.send({ type: "pick", id: ids.brand });
  assert.equal(bench.state.view, "institution");
});

test("a sign-in outlives its email proof, and the next one repeats the email step", async () => {
  const bench = await proven();
  await bench.toWaiting();
  bench.sleep(61 * 60_000);
  bench.progress = { status: "done", result: connection };
  bench.send({ type: "wake" });
  await bench.pass(0);
  assert.equal(bench.state.view, "connected");
  bench.send({ type: "restart" });
  assert.equal(bench.state.view, "email");
});

test("an email proof lasts up to an hour despite a wrong clock", async () => {
  for (const hours of [-5, 5]) {
    const bench = new Bench({ searchOnly: false, email });
    bench.answers.verify = () => ({
      ok: true,
      data: { email_token: "e-1", expires_at: new Date(bench.began + (hours + 1) * 3_600_000).toISOString() },
    });
    bench.send({ type: "email" });
    await bench.pass(0);
    bench.send({ type: "draft", draft: { code: "123456" } });
    bench.send({ type: "code" });
    await bench.pass(0);
    bench.sleep(59 * 60_000);
    assert.equal(await sentProof(bench), "e-1");
    bench.send({ type: "back" });
    bench.sleep(2 * 60_000);
    assert.equal(await sentProof(bench), undefined);
  }
});
