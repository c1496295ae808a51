import assert from "node:assert/strict";
import test from "node:test";
import { Api, Refused } from "./api.ts";
import { world } from "../testing/world.ts";

interface Sent {
  url: string;
  init: RequestInit;
}

function asking(answers: [status: number, body: object][], prove = true) {
  const sent: Sent[] = [];
  const told = { signedOut: 0, proofs: 0 };
  const api = new Api({
    base: "dashboard",
    fetch: (async (url: string, init: RequestInit) => {
      sent.push({ url, init });
      const [status, body] = answers.shift() ?? [500, {}];
      return new Response(JSON.stringify(body), { status, headers: { "x-request-id": "r-1" } });
    }) as typeof fetch,
    signedOut: () => void (told.signedOut += 1),
    prove: async () => {
      told.proofs += 1;
      return prove;
    },
  });
  return { api, sent, told };
}

const refusal = async (promise: Promise<unknown>) => {
  const error = await promise.then(
    () => assert.fail("it was done"),
    (thrown: unknown) => thrown,
  );
  assert(error instanceof Refused);
  return error.failure;
};

test("the CSRF token is sent only with requests that change state", async () => {
  const { api, sent } = asking([
    [200, { success: true }],
    [200, { success: true, data: 7 }],
  ]);
  api.keep(world().session);
  await api.post("organisations", { name: "A" });
  assert.equal(await api.get("session", { a: "1&2", b: "", c: undefined }), 7);
  const header = (i: number): unknown => (sent[i]?.init.headers as Record<string, string>)["X-CSRF-Token"];
  assert.deepEqual([header(0), header(1)], ["t".repeat(43), undefined]);
  assert.equal(sent[1]?.url, "dashboard/session?a=1%262");
  for (const { init } of sent)
    assert.deepEqual([init.credentials, init.cache, init.redirect], ["same-origin", "no-store", "error"]);
});

const proof: [number, object] = [
  403,
  { success: false, error: "svc_proof_required", error_description: "Prove it.", request_id: "r-2" },
];

test("a request that requires recent authentication is sent after authentication", async () => {
  const proven = asking([proof, [200, { success: true, data: "secret" }]]);
  assert.equal(await proven.api.post("webhooks/w1/secret/reveal"), "secret");
  assert.deepEqual([proven.sent.length, proven.told.proofs], [2, 1]);
  const declined = asking([proof], false);
  assert.equal((await refusal(declined.api.post("webhooks/w1/secret/reveal"))).error, "svc_proof_required");
  assert.equal(declined.sent.length, 1);
});

test("a request is resent with its body after authentication", async () => {
  const typed = { url: "https://hooks.example/a", note: "Hazel" };
  for (const method of ["post", "patch"] as const) {
    const { api, sent } = asking([proof, [200, { success: true, data: 7 }]]);
    assert.equal(await api[method]("organisations/o1/live/webhooks", typed), 7);
    const [first, second] = sent.map(({ url, init }) => [url, init.method, init.body]);
    assert.deepEqual(second, first);
    assert.deepEqual(JSON.parse(String(sent[1]?.init.body)), typed);
  }
});

test("an edit's version is sent in If-Match, even after authentication", async () => {
  const { api, sent } = asking([proof, [200, { success: true, data: 7 }], [200, { success: true, data: 8 }]]);
  assert.equal(await api.patch("organisations/o1/members/m1", { role: "admin" }, "v1"), 7);
  assert.equal(await api.patch("organisations/o1", {}), 8);
  assert.deepEqual(
    sent.map(({ init }) => (init.headers as Record<string, string>)["If-Match"]),
    [`"v1"`, `"v1"`, undefined],
  );
});

test("an expired session and an unreachable service are reported", async () => {
  const over = asking([
    [401, { success: false, error: "svc_session_required", error_description: "Sign in.", request_id: "r-3" }],
  ]);
  assert.equal((await refusal(over.api.get("account"))).requestId, "r-3");
  assert.equal(over.told.signedOut, 1);
  const odd = asking([[502, ["<html>"]]]);
  assert.deepEqual(await refusal(odd.api.get("account")), {
    status: 502,
    error: "svc_server_error",
    description: "The server sent an unexpected response.",
    requestId: "r-1",
  });
  const away = new Api({
    base: "dashboard",
    fetch: () => Promise.reject(new TypeError("x")),
    signedOut: () => {},
    prove: async () => false,
  });
  assert.equal((await refusal(away.get("session"))).status, 0);
});

test("an error includes the Retry-After delay in seconds", async () => {
  for (const [value, want] of [
    ["2316", 2316],
    ["soon", undefined],
    [undefined, undefined],
  ] as const) {
    const fetch = (async () =>
      new Response("{}", {
        status: 429,
        headers: value === undefined ? {} : { "retry-after": value },
      })) as typeof globalThis.fetch;
    const api = new Api({ base: "dashboard", fetch, signedOut: () => undefined, prove: async () => false });
    assert.equal((await refusal(api.get("session"))).retryAfter, want);
  }
});
