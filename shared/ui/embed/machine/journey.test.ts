import assert from "node:assert/strict";
import test from "node:test";
import type { CallName, Failure } from "../api/records.ts";
import type { Message } from "../machine/message.ts";
import { Bench, connection, failure, hit, ids, portal } from "../testing/bench.ts";

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
    case "search":
      return s.search.hits[0]
        ? { type: "pick", id: s.search.hits[0].id }
        : s.search.loading
          ? undefined
          : { type: "type", query: "alder" };
    case "institution":
      return s.target ? { type: "leave" } : { type: "portal", id: "p" };
    case "failed":
      return { type: "prepare" };
    case "connected":
      return { type: "close_now" };
    default:
      return undefined;
  }
}

/** Simulates a patient who always takes the next step. A limit on the number of steps detects dead ends. */
async function travel(bench: Bench): Promise<void> {
  for (let i = 0; i < 60 && bench.closed === 0; i++) {
    const message = nextStep(bench);
    if (message) bench.send(message);
    await bench.pass(message ? 300 : 2000);
  }
}

function journey(fault: (n: number, call: CallName) => Failure | undefined): Bench {
  const bench = new Bench({ showSplash: true, searchOnly: false });
  bench.fault = fault;
  bench.progress = { status: "done", result: connection };
  bench.answers.search = () => ({
    ok: true,
    data: { total: 1, hits: [hit("b", [portal("p", ["e1", "e2"]), portal("q", ["e3"])])] },
  });
  return bench;
}

test("the widget leads the patient from the splash screen to the end", async () => {
  const bench = journey(() => undefined);
  await travel(bench);
  assert.deepEqual(
    bench.asked.map((one) => one.call),
    ["codes", "verify", "search", "search", "endpoint", "prepare", "progress"],
  );
  assert.equal(bench.told("widget.complete").length, 1);
  assert.equal(bench.closed, 1);
});

for (const kind of ["network", "limited", "unavailable", "refused", "lost"] as const) {
  for (let failing = 0; failing < 6; failing++) {
    test(`the widget offers a next step when request ${failing} fails once (${kind})`, async () => {
      const bench = journey((n) => (n === failing ? failure(kind) : undefined));
      await travel(bench);
      assert.equal(bench.closed, 1, `stuck in ${bench.state.view}`);
      assert.equal(bench.state.connected.length, 1);
    });
  }
}

test("an unknown public ID is reported once, whichever request fails", async () => {
  for (const failing of [0, 2, 4]) {
    const bench = journey((n) => (n >= failing ? failure("foreign") : undefined));
    await travel(bench);
    assert.equal(bench.state.view, "config_error");
    assert.deepEqual(bench.told("widget.config_error"), [{ api_mode: "live", event_type: "widget.config_error" }]);
  }
});

test("a request that failed offline is retried when online", async () => {
  const bench = new Bench();
  bench.fault = (_, call) => (call === "search" ? failure("network") : undefined);
  bench.send({ type: "type", query: "alder" });
  await bench.pass(300);
  assert.equal(bench.state.trouble?.failure.kind, "network");
  bench.fault = () => undefined;
  bench.send({ type: "network", online: true });
  await bench.pass(0);
  assert.equal(bench.state.search.hits.length, 2);
  assert.equal(bench.state.trouble, undefined);
});

test("closing asks for confirmation only during a sign-in and emits widget.complete once", async () => {
  const bench = new Bench();
  await bench.toWaiting();
  bench.send({ type: "close" });
  assert.equal(bench.state.leaving, true);
  assert.equal(bench.closed, 0);
  bench.send({ type: "stay" });
  bench.send({ type: "close" });
  bench.send({ type: "close_now" });
  bench.send({ type: "close" });
  assert.deepEqual(bench.told("widget.complete"), [{ api_mode: "live", event_type: "widget.complete", data: [] }]);
});

test("a reconnect starts at the institution, without email step, search or back button", async () => {
  const bench = new Bench({ searchOnly: false, reconnectOrgConnectionId: connection.org_connection_id });
  await bench.pass(0);
  assert.equal(bench.state.view, "institution");
  assert.match(bench.state.target?.name ?? "", /^Alder/);
  bench.send({ type: "back" });
  assert.equal(bench.state.view, "institution");
  bench.send({ type: "leave" });
  bench.progress = { status: "done", result: connection };
  await bench.pass(2000);
  assert.deepEqual(bench.events[0], {
    api_mode: "live",
    event_type: "patient.connection_pending",
    data: {
      public_id: "public_live_1",
      brand_id: ids.brand,
      portal_id: ids.portal,
      endpoint_id: ids.endpoint,
      org_connection_id: connection.org_connection_id,
    },
  });
});

test("reconnecting another organisation's connection reports a configuration error and lets the patient connect again", async () => {
  const bench = new Bench({ searchOnly: false, reconnectOrgConnectionId: "nobody's" });
  bench.fault = (_, call) => (call === "prepare" ? failure("refused") : undefined);
  await bench.pass(0);
  assert.equal(bench.told("widget.config_error").length, 1);
  assert.equal(bench.state.ending?.cause, "connection_unknown");
  bench.send({ type: "restart" });
  assert.equal(bench.state.view, "search");
});

test("a hosted page navigates to connect or reconnect with only its own parameters", async () => {
  const bench = new Bench({ externalId: "visit-9", email: "mona@example.com" }, "page");
  await bench.toInstitution();
  bench.send({ type: "leave" });
  const left = new URL(bench.left[0] ?? "");
  assert.equal(left.pathname, "/v1/bridge/connect");
  assert.deepEqual([...left.searchParams.keys()].sort(), [
    "brand_id",
    "endpoint_id",
    "external_id",
    "portal_id",
    "public_id",
    "redirect_uri",
  ]);
  assert.equal(bench.times("prepare").length, 0);

  const renewed = new Bench({ reconnectOrgConnectionId: "c-1", externalState: "s" }, "page");
  renewed.send({ type: "leave" });
  assert.equal(
    renewed.left[0],
    "https://svc.example/v1/bridge/reconnect?public_id=public_live_1&redirect_uri=https%3A%2F%2Forg.example%2Fback&external_state=s&reconnect_org_connection_id=c-1",
  );
});

test("an institution specified by the host page is shown without a search", async () => {
  const bench = new Bench({ brandId: "b" });
  await bench.pass(0);
  assert.equal(bench.state.view, "institution");
  assert.equal(bench.times("search").length, 0);
  assert.equal(bench.times("prepare").length, 1);
});
