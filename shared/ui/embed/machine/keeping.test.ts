import assert from "node:assert/strict";
import test from "node:test";
import type { Config } from "../../kit/protocol.ts";
import { Bench, connection, ids } from "../testing/bench.ts";
import { kept, keptIn, ownerOf } from "./keeping.ts";

const minute = 60_000;
const owner = "https://app.example";

/** Returns the text that a visit leaves in the storage. */
const leaves = (bench: Bench): string => JSON.stringify({ ...kept(bench.state, owner, "es"), at: bench.now() });

/** Starts again some time later with the text that an earlier visit left. */
function again(earlier: Bench, config: Partial<Config> = {}, after = minute): Bench {
  return new Bench(config, "frame", { kept: { owner, text: leaves(earlier) }, after });
}

async function verified(): Promise<Bench> {
  const bench = new Bench({ searchOnly: false, showSplash: true });
  bench.send({ type: "agree" });
  bench.send({ type: "draft", draft: { email: "mona@example.com" } });
  bench.send({ type: "email" });
  await bench.pass(0);
  bench.send({ type: "draft", draft: { code: "123456" } });
  bench.send({ type: "code" });
  await bench.pass(0);
  return bench;
}

const ordinary = { searchOnly: false, showSplash: true };

test("a reload keeps the verified address and the search", async () => {
  const bench = await verified();
  bench.send({ type: "type", query: "alder" });
  const next = again(bench, ordinary);
  assert.equal(next.state.view, "search");
  await next.pass(0);
  assert.equal(next.state.search.query, "alder");
  assert.equal(next.state.search.hits.length, 2);
  next.send({ type: "pick", id: ids.brand });
  await next.pass(0);
  assert.equal(next.state.view, "institution");
  assert.equal(next.times("codes").length, 0);
});

test("a reload at the code step keeps the address and the code's request, but no typed code", async () => {
  const bench = new Bench({ searchOnly: false });
  bench.send({ type: "draft", draft: { email: "mona@example.com" } });
  bench.send({ type: "email" });
  await bench.pass(0);
  bench.send({ type: "draft", draft: { code: "1234" } });
  assert.doesNotMatch(leaves(bench), /1234"/);
  const next = again(bench, { searchOnly: false });
  assert.equal(next.state.view, "code");
  assert.equal(next.state.canResend, true);
  next.send({ type: "draft", draft: { code: "123456" } });
  next.send({ type: "code" });
  await next.pass(0);
  assert.equal(next.state.view, "search");
});

test("a reload at the institution keeps the choice", async () => {
  const bench = new Bench();
  await bench.toInstitution();
  const next = again(bench, { searchOnly: true });
  await next.pass(0);
  assert.equal(next.state.view, "institution");
  next.send({ type: "leave" });
  assert.equal(next.opened.length, 1);
});

test("a sign-in is followed to its end after a reload", async () => {
  const bench = new Bench();
  const id = await bench.toWaiting();
  const next = again(bench);
  assert.equal(next.state.view, "waiting");
  assert.equal(next.state.current, id);
  next.progress = { status: "done", result: connection };
  next.send({ type: "wake" });
  await next.pass(0);
  assert.equal(next.state.view, "connected");
});

test("a connection from before a reload is reported in widget.complete", async () => {
  const bench = new Bench();
  await bench.toWaiting();
  bench.progress = { status: "done", result: connection };
  await bench.pass(2000);
  const next = again(bench);
  assert.equal(next.state.view, "connected");
  next.send({ type: "close" });
  assert.deepEqual(next.told("widget.complete"), [
    { api_mode: "live", event_type: "widget.complete", data: [connection] },
  ]);
});

test("a modal reopened after the end starts at the search and marks connected institutions", async () => {
  const bench = await verified();
  await bench.toWaiting();
  bench.progress = { status: "done", result: connection };
  await bench.pass(2000);
  bench.send({ type: "close" });
  const next = again(bench, ordinary);
  assert.equal(next.state.view, "search");
  assert.deepEqual(
    next.state.earlier.map((one) => one.connection.brand_id),
    [ids.brand],
  );
  next.send({ type: "close" });
  assert.deepEqual(
    next.told("widget.complete"),
    [{ api_mode: "live", event_type: "widget.complete", data: [] }],
    "reported once",
  );
});

test("a modal reopened after a complete TEFCA visit starts at the beginning", async () => {
  const bench = new Bench({ tefcaMode: true });
  await bench.toFacilities({ tefca_directory_id: "f-1", name: "Elm", city: "", state: "", match: "found" });
  bench.state.view = "summary";
  bench.send({ type: "close_now" });
  const next = again(bench, { tefcaMode: true });
  next.standing = bench.standing;
  await next.pass(2000);
  assert.equal(next.state.view, "institution", "the identity provider");
  assert.equal(next.state.tefca?.standing, undefined);
  assert.ok(next.state.attempts.every((a) => a.leftAt === undefined));
});

test("a modal closed during a visit reopens in the same view", async () => {
  const bench = new Bench();
  bench.send({ type: "show", view: "support" });
  bench.send({ type: "draft", draft: { body: "I can't find it." } });
  bench.send({ type: "close" });
  const next = again(bench);
  assert.equal(next.state.view, "support");
  assert.equal(next.state.draft.body, "I can't find it.");
});

test("the stored state expires after 30 minutes", async () => {
  const bench = await verified();
  assert.equal(again(bench, ordinary, 29 * minute).state.view, "search");
  assert.equal(again(bench, ordinary, 31 * minute).state.view, "splash");
});

test("the stored state belongs to one page and one patient", () => {
  const config = new Bench({ externalId: "a" }).state.config;
  const mine = ownerOf(owner, config);
  assert.notEqual(mine, ownerOf("https://evil.example", config));
  assert.notEqual(mine, ownerOf(owner, { ...config, externalId: "b" }));
  assert.notEqual(mine, ownerOf(owner, { ...config, email: "x@y.example" }));
  assert.equal(mine, ownerOf(owner, { ...config, lang: "es", searchQuery: "elm" }), "only the presentation differs");
  const bench = new Bench();
  const text = JSON.stringify({ ...kept({ ...bench.state, view: "search" }, mine, undefined), at: 1000 });
  assert.ok(keptIn({ owner: mine, text }, 2000));
  for (const [who, what, now] of [
    ["another", text, 2000],
    [mine, "{", 2000],
    [mine, "null", 2000],
    [mine, null, 2000],
    [mine, text, 500],
  ] as const) {
    assert.equal(keptIn({ owner: who, text: what }, now), undefined);
  }
});

test("TEFCA mode continues at the facilities after a reload", async () => {
  const bench = new Bench({ tefcaMode: true });
  await bench.toFacilities({ tefca_directory_id: "f-1", name: "Elm", city: "", state: "", match: "found" });
  const next = again(bench, { tefcaMode: true });
  next.standing = bench.standing;
  await next.pass(0);
  assert.equal(next.state.view, "facilities");
  assert.equal(next.state.tefca?.standing?.facilities.length, 1);
});

test("closing asks for confirmation if the patient typed text that the browser can't store", async () => {
  const bench = new Bench({ searchOnly: false });
  bench.send({ type: "close" });
  assert.equal(bench.closed, 1);
  const typed = new Bench();
  typed.send({ type: "show", view: "support" });
  typed.send({ type: "draft", draft: { body: "Where is it?" } });
  typed.send({ type: "close" });
  assert.equal(typed.closed, 0);
  assert.equal(typed.state.leaving, true);
  typed.send({ type: "close_now" });
  assert.equal(typed.closed, 1);
});
