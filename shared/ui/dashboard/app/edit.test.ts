import assert from "node:assert/strict";
import test from "node:test";
import { Refused } from "../api/api.ts";
import { differences, draftOf, send } from "./edit.ts";
import type { Fields, Form } from "./edit.ts";

type Hook = { version: string; rate: number; types: string[]; headers: string[] };
type Draft = { rate: string; types: readonly string[]; headers: string };

const FIELDS: Fields<Hook, Draft> = {
  rate: { label: "Rate", of: ({ rate }) => String(rate) },
  types: { label: "Events", of: ({ types }) => types },
  headers: { label: "Headers", of: () => "", saved: ({ headers }) => headers, typed: (text) => text.split(":", 1) },
};

const hook = (version: string, over: Partial<Hook> = {}): Hook => ({
  version,
  rate: 50,
  types: ["a", "b"],
  headers: ["X-A"],
  ...over,
});
const form = (base: Hook, over: Partial<Draft> = {}): Form<Hook, Draft> => ({
  base,
  draft: { ...draftOf(FIELDS, base), ...over },
});
const conflict = (): never => {
  throw new Refused({ status: 409, error: "svc_conflict", description: "Changed.", requestId: "r-1" });
};

/** A server with the given object, which refuses edits of other versions. */
function serverWith(stored: Hook) {
  const sent: [draft: Draft, version: string][] = [];
  return {
    sent,
    load: async () => stored,
    save: async (draft: Draft, version: string) => {
      sent.push([draft, version]);
      return version === stored.version ? { ...stored, version: "saved", rate: Number(draft.rate) } : conflict();
    },
  };
}

test("send saves a draft with the version that was loaded", async () => {
  const server = serverWith(hook("1"));
  assert.deepEqual(await send(FIELDS, form(hook("1"), { rate: "20" }), server), form(hook("saved", { rate: 20 })));
  assert.deepEqual(server.sent, [[{ rate: "20", types: ["a", "b"], headers: "" }, "1"]]);
});

test("after a conflict, the draft keeps the user's changes and adopts the other edit's", async () => {
  const current = hook("2", { types: ["a", "b", "c"] });
  const server = serverWith(current);
  const next = await send(FIELDS, form(hook("1"), { rate: "20" }), server);
  assert.deepEqual(next, { ...form(current, { rate: "20" }), was: hook("1") });
  assert.deepEqual(differences(FIELDS, next), [
    { label: "Rate", mine: "20" },
    { label: "Events", theirs: ["Added: c"] },
  ]);
  const saved = await send(FIELDS, next, server);
  assert.deepEqual(saved, form({ ...current, version: "saved", rate: 20 }));
  assert.deepEqual(server.sent[1], [{ rate: "20", types: ["a", "b", "c"], headers: "" }, "2"]);
});

test("after a second conflict, the differences still include the first other edit", async () => {
  const first = await send(FIELDS, form(hook("1"), { rate: "20" }), serverWith(hook("2", { types: ["a"] })));
  const current = hook("3", { types: ["a"], rate: 30 });
  const second = await send(FIELDS, first, serverWith(current));
  assert.deepEqual(second, { ...form(current, { rate: "20" }), was: hook("1") });
  assert.deepEqual(differences(FIELDS, second), [
    { label: "Rate", theirs: "30", mine: "20" },
    { label: "Events", theirs: ["Removed: b"] },
  ]);
});

test("differences shows placeholders instead of hidden values", async () => {
  const current = hook("2", { headers: ["X-B"] });
  const next = await send(FIELDS, form(hook("1"), { headers: "X-A: secret" }), serverWith(current));
  assert.deepEqual(differences(FIELDS, next), [
    { label: "Headers", theirs: ["Added: X-B", "Removed: X-A"], mine: ["X-A"] },
  ]);
});

test("differences shows both edits of a list relative to the loaded list", async () => {
  const mine = form(hook("1"), { types: ["a", "d"] });
  const next = await send(FIELDS, mine, serverWith(hook("2", { types: ["a", "b", "c"] })));
  assert.deepEqual(differences(FIELDS, next), [
    { label: "Events", theirs: ["Added: c"], mine: ["Added: d", "Removed: b"] },
  ]);
});

test("an edit that equals the other edit is no conflict, regardless of a list's order", async () => {
  const current = hook("2", { rate: 20, types: ["b", "c"] });
  const next = await send(FIELDS, form(hook("1"), { rate: "20", types: ["c", "b"] }), serverWith(current));
  assert.equal(next.was, undefined);
  assert.equal(next.base, current);
});

test("send throws a refusal of the loaded version and any other failure", async () => {
  const refused = { ...serverWith(hook("1")), save: async () => conflict() };
  await assert.rejects(send(FIELDS, form(hook("1"), { rate: "20" }), refused), Refused);
  const broken = { ...serverWith(hook("2")), save: async () => Promise.reject(new Error("offline")) };
  await assert.rejects(send(FIELDS, form(hook("1"), { rate: "20" }), broken), /offline/);
});
