import assert from "node:assert/strict";
import test from "node:test";
import type { Config } from "../../kit/protocol.ts";
import type { Standing } from "../api/records.ts";
import { Bench, failure, ids } from "../testing/bench.ts";
import { alive, assertEvents, connected, located, minute, one, second, tefca } from "../testing/network.ts";
import type { Message } from "./message.ts";
import { behind } from "./tefca.ts";

/** Returns a patient's next step in a view, or undefined if the patient can only wait. */
function nextStep({ state: s }: Bench): Message | undefined {
  if (s.trouble?.retry) return { type: "retry" };
  if (s.busy) return undefined;
  switch (s.view) {
    case "splash":
      return { type: "agree" };
    case "email":
      return s.draft.email ? { type: "email" } : { type: "draft", draft: { email: "mona@example.com" } };
    case "code":
      return s.draft.code ? { type: "code" } : { type: "draft", draft: { code: "123456" } };
    case "institution":
      return s.target ? { type: "leave" } : { type: "provider", id: s.tefca?.providers?.[0]?.id };
    case "facilities":
      if (s.tefca?.standing?.facilities.length === 0) return { type: "close_now" };
      return s.tefca?.ticked.length
        ? { type: "authorize", ids: s.tefca.ticked }
        : { type: "tick", ids: ["urn:oid:2.999.1.1"], on: true };
    case "failed":
      return { type: "prepare" };
    case "summary":
      return { type: "close_now" };
    default:
      return undefined;
  }
}

/**
 * Simulates a patient who always takes the next step. A limit on the number of steps detects dead ends. The list of
 * views has no repetitions.
 */
async function travel(bench: Bench): Promise<string[]> {
  const views: string[] = [];
  for (let i = 0; i < 80 && bench.closed === 0; i++) {
    if (views.at(-1) !== bench.state.view) views.push(bench.state.view);
    const message = nextStep(bench);
    if (message) bench.send(message);
    await bench.pass(message ? 300 : 2000);
  }
  return views;
}

/** Simulates a slow network. Each poll gets the next response, and the last response repeats. */
function serving(bench: Bench, ...standings: Standing[]): void {
  bench.answers.records = () => ({
    ok: true,
    data: (standings.length > 1 ? standings.shift() : standings[0]) ?? located(),
  });
}

const usual: Standing[] = [
  { status: "created", facilities: [] },
  { status: "open", facilities: [] },
  { status: "locating", ...alive, facilities: [] },
  { status: "locating", ...alive, facilities: [one(1)] },
  located(one(1), one(2), one(3, { match: "ambiguous" }), one(4, { match: "unanswered" })),
];

/** Simulates the service until the patient's choice, and then the choice's result. */
function journey(
  config: Partial<Config> = {},
  before: Standing[] = usual,
  after: Standing[] = [located(connected(1), one(2))],
): Bench {
  const bench = tefca(config);
  serving(bench, ...before);
  bench.answers.authorize = ({ ids: [id] }) => {
    assert.equal(id, "urn:oid:2.999.1.1");
    serving(bench, ...after);
    return {
      ok: true,
      data: { status: "authorizing", ...alive, facilities: [one(1, { outcome: "connecting" }), one(2)] },
    };
  };
  return bench;
}

const identity = ["institution", "waiting", "locating", "facilities"];
const email = ["email", "code"];
const end = ["connecting", "summary", "closed"];

for (const [what, config, views] of [
  ["with the e-mail's code", { searchOnly: false }, ["splash", ...email, ...identity, ...end]],
  ["without one, for a search-only element", {}, ["splash", ...identity, ...end]],
  ["with show-splash, which changes nothing", { showSplash: true }, ["splash", ...identity, ...end]],
  [
    "for a reconnect, which is made by proving the identity again",
    { searchOnly: false, reconnectOrgConnectionId: ids.connection },
    ["splash", ...email, ...identity, ...end],
  ],
  [
    "with ids of an institution, which lead nowhere",
    { brandId: ids.brand, portalId: ids.portal, endpointId: ids.endpoint },
    ["splash", ...identity, ...end],
  ],
] as const) {
  test(`TEFCA mode leads the patient from the introduction to the end: ${what}`, async () => {
    const bench = journey(config);
    assert.deepEqual(await travel(bench), ["loading", ...views.slice(0, -1)]);
    assert.equal(bench.state.view, "closed");
    assert.deepEqual(
      new Set(bench.asked.map((each) => each.call)),
      new Set([
        "providers",
        ...(views.includes("email") ? ["codes", "verify"] : []),
        "identity",
        "records",
        "authorize",
      ]),
    );
    assert.deepEqual(bench.events, [
      {
        api_mode: "live",
        event_type: "patient.connection_pending",
        data: { public_id: "public_live_1", external_id: "visit-9", external_state: "s-1" },
      },
      { api_mode: "live", event_type: "patient.connection_success", data: connected(1).connection },
      { api_mode: "live", event_type: "widget.complete", data: [connected(1).connection] },
    ]);
    assertEvents(bench);
  });
}

for (const kind of ["network", "limited", "unavailable", "refused", "lost", "taken"] as const) {
  for (let failing = 1; failing < 12; failing++) {
    test(`TEFCA mode offers a next step when request ${failing} fails once (${kind})`, async () => {
      const bench = journey({ searchOnly: false });
      bench.answers.records = ({ id }) => ({
        ok: true,
        data:
          bench.state.connected.length > 0
            ? located(connected(1))
            : id === bench.state.current
              ? (usual[4] ?? located())
              : { status: "open", facilities: [] },
      });
      bench.answers.authorize = () => ({ ok: true, data: located(connected(1)) });
      bench.fault = (n) => (n === failing ? failure(kind) : undefined);
      await travel(bench);
      assert.equal(bench.closed, 1, `stuck in ${bench.state.view}`);
      assert.equal(bench.state.connected.length, 1);
      assertEvents(bench);
    });
  }
}

for (const [what, fault] of [
  ["an organisation without the plan", failure("refused", { error: "svc_plan_required" })],
  ["nothing that is configured", failure("refused", { error: "svc_invalid_request" })],
  ["a service without TEFCA", failure("lost")],
  ["an unknown public id", failure("foreign")],
] as const) {
  test(`${what} is reported once as a configuration error`, async () => {
    const bench = tefca();
    bench.fault = () => fault;
    await bench.pass(0);
    assert.equal(bench.state.view, "config_error");
    assert.deepEqual(bench.events, [{ api_mode: "live", event_type: "widget.config_error" }]);
    assert.deepEqual(bench.reasons, ["It failed."]);
  });
}

test("a missing identity provider or an ended plan is a configuration error", async () => {
  const none = tefca();
  none.providers = [];
  await none.pass(0);
  assert.equal(none.state.view, "config_error");
  const ended = tefca();
  ended.fault = (_, call) => (call === "identity" ? failure("refused", { error: "svc_plan_required" }) : undefined);
  await ended.toProvider();
  assert.equal(ended.state.view, "config_error");
});

test("the provider list is retried while the introduction stays open", async () => {
  const bench = tefca();
  bench.fault = (_, call) => (call === "providers" ? failure("unavailable") : undefined);
  await bench.pass(0);
  assert.equal(bench.state.view, "splash");
  bench.send({ type: "agree" });
  await bench.pass(0);
  assert.deepEqual(
    [bench.state.view, bench.state.busy, bench.state.trouble?.failure.kind],
    ["institution", false, "unavailable"],
  );
  bench.fault = () => undefined;
  bench.send({ type: "retry" });
  await bench.pass(0);
  assert.equal(bench.state.target?.name, "Aspen ID");
});

test("a TEFCA chunk that fails to load is retried by reloading the page", async () => {
  const bench = tefca();
  bench.loads = false;
  await bench.pass(0);
  assert.deepEqual([bench.state.view, bench.state.trouble?.failure.kind], ["loading", "network"]);
  bench.send({ type: "network", online: true });
  assert.equal(bench.reloaded, 1);
  bench.send({ type: "retry" });
  assert.equal(bench.reloaded, 2);
});

test("the patient chooses one of several providers and can go back to the choice", async () => {
  const bench = tefca();
  bench.providers = [
    { id: "a", name: "Aspen ID" },
    { id: "b", name: "Birch ID" },
  ];
  await bench.toProvider();
  assert.equal(bench.state.target?.name, undefined);
  assert.equal(behind(bench.state), undefined);
  bench.send({ type: "provider", id: "b" });
  await bench.pass(0);
  assert.deepEqual(bench.asked.at(-1)?.ask, {
    provider: "b",
    external_id: "visit-9",
    external_state: "s-1",
    request_id: undefined,
  });
  bench.send({ type: "back" });
  assert.deepEqual(
    [bench.state.view, bench.state.target?.name, bench.state.attempts.length],
    ["institution", undefined, 0],
  );
  bench.send({ type: "provider", id: "a" });
  await bench.pass(0);
  bench.send({ type: "leave" });
  assert.deepEqual(bench.opened, ["https://svc.example/v1/bridge/tefca/identity/start identity-2"]);
  bench.send({ type: "back" });
  const { view, target } = bench.state;
  assert.deepEqual([view, target?.name], ["institution", "Aspen ID"]);
});

test("a closed identity window is reported once, and the check can be completed in either window", async () => {
  const bench = tefca();
  const first = await bench.toVerifying();
  for (let i = 0; i < 3; i++) bench.send({ type: "windows", closed: [first], focused: true });
  await bench.pass(0);
  assert.deepEqual(
    bench.events.map((event) => event.event_type),
    ["patient.connection_pending"],
  );
  bench.send({ type: "raise" });
  assert.deepEqual(
    bench.opened.map((url) => url.slice(-10)),
    ["identity-1", "identity-2"],
  );
  bench.answers.records = ({ id }) => ({
    ok: true,
    data: id === first ? located(one(1)) : { status: "open", facilities: [] },
  });
  await bench.pass(2 * second);
  assert.deepEqual([bench.state.view, bench.state.current], ["facilities", first]);
  bench.answers.records = ({ id }) => ({ ok: true, data: located(one(id === first ? 1 : 2)) });
  bench.send({ type: "wake" });
  await bench.pass(2 * second);
  assert.deepEqual(
    [bench.state.current, bench.state.attempts.map(({ id }) => id)],
    [first, [first]],
    "one proof is enough",
  );
  assert.equal(bench.told("patient.connection_pending").length, 1);
});

for (const [status, cause] of [
  ["failed", "declined"],
  ["expired", "expired"],
] as const) {
  test(`a failed identity check (${cause}) is shown without an event and can be repeated`, async () => {
    const bench = tefca();
    await bench.toVerifying();
    const error = { error: "access_denied", error_description: "No.", request_id: "r-2", cause, suggested_action: "" };
    bench.standing = { status, facilities: [], ...(status === "failed" && { error }) };
    await bench.pass(2 * second);
    assert.deepEqual(
      [bench.state.view, bench.state.ending?.cause, bench.state.ending?.target.name],
      ["failed", cause, "Aspen ID"],
    );
    assertEvents(bench);
    bench.send({ type: "prepare" });
    await bench.pass(0);
    bench.send({ type: "leave" });
    assert.equal(bench.opened.length, 2);
  });
}

test("an outcome does not replace an open form, and the support form does not name the identity provider as a hospital", async () => {
  const bench = tefca({ email: "mona@example.com" });
  await bench.toVerifying();
  bench.send({ type: "show", view: "support" });
  bench.standing = located(one(1));
  await bench.pass(2 * second);
  assert.equal(bench.state.view, "support");
  bench.send({ type: "draft", draft: { name: "Mona", subject: "It fails", body: "Always." } });
  bench.send({ type: "send" });
  await bench.pass(0);
  assert.equal((bench.asked.at(-1)?.ask as { health_system?: string }).health_system, undefined);
  bench.send({ type: "back" });
  assert.equal(bench.state.view, "facilities");
});

test("a patient without matches can search instead", async () => {
  const bench = tefca();
  await bench.toFacilities();
  bench.send({ type: "instead" });
  assert.deepEqual([bench.state.view, bench.state.tefca, bench.state.attempts], ["search", undefined, []]);
  await bench.toWaiting();
  bench.progress = {
    status: "failed",
    error: {
      error: "access_denied",
      error_description: "No.",
      request_id: "r-2",
      cause: "declined",
      suggested_action: "",
    },
  };
  await bench.pass(2 * second);
  assert.equal(bench.state.view, "failed");
  assertEvents(bench);
});

test("the search after TEFCA ignores the page's institution, even after another email step", async () => {
  const bench = journey({ searchOnly: false, brandId: ids.brand, email: "mona@example.com" }, [located()]);
  for (let i = 0; i < 40 && bench.state.view !== "facilities"; i++) {
    const message = nextStep(bench);
    if (message) bench.send(message);
    await bench.pass(2000);
  }
  bench.sleep(61 * minute);
  bench.send({ type: "instead" });
  for (const view of ["email", "code"] as const) {
    assert.equal(bench.state.view, view);
    bench.send({ type: "draft", draft: { code: "123456" } });
    bench.send({ type: view });
    await bench.pass(0);
  }
  assert.deepEqual([bench.state.view, bench.times("institution").length], ["search", 0]);
});

test("the email step repeats before an identity check an hour after the code", async () => {
  const bench = journey({ searchOnly: false });
  for (let i = 0; i < 40 && bench.state.view !== "institution"; i++) {
    const message = nextStep(bench);
    if (message) bench.send(message);
    await bench.pass(100);
  }
  bench.send({ type: "leave" });
  bench.sleep(61 * minute);
  bench.answers.records = () => ({ ok: true, data: { status: "expired", facilities: [] } });
  bench.send({ type: "wake" });
  await bench.pass(0);
  assert.equal(bench.state.ending?.cause, "expired");
  bench.send({ type: "prepare" });
  assert.equal(bench.state.view, "email");
});
