import assert from "node:assert/strict";
import test from "node:test";
import { api } from "./api.ts";

const signal = new AbortController().signal;

/** A fake service that returns the given responses in order. */
function service(...answers: [status: number, body: unknown, headers?: Record<string, string>][]) {
  const requests: { url: string; init: RequestInit }[] = [];
  const fake: typeof fetch = async (url, init = {}) => {
    requests.push({ url: String(url), init });
    const [status, body, headers = {}] = answers.shift() ?? [500, {}];
    return new Response(typeof body === "string" ? body : JSON.stringify(body), { status, headers });
  };
  return {
    requests,
    api: api({
      baseUrl: "https://svc.example/v1",
      publicId: "public_test_1",
      lang: () => "es",
      requestKey: "k-1",
      fetch: fake,
    }),
  };
}

test("requests send no cookie, no referrer and no personal data in the URL", async () => {
  const { requests, api } = service([200, { success: true, data: { verification_id: "v", resend_after: "" } }]);
  await api.codes({ email: "mona@example.com" }, signal);
  const [request] = requests;
  assert.equal(request?.url, "https://svc.example/v1/bridge/email/codes?public_id=public_test_1");
  assert.equal(request?.init.credentials, "omit");
  assert.equal(request?.init.referrerPolicy, "no-referrer");
  assert.equal(request?.init.body, '{"email":"mona@example.com","lang":"es"}');
});

test("polling sends the attempt token as a bearer token, not in the URL", async () => {
  const { requests, api } = service([200, { success: true, data: { status: "open" } }]);
  await api.progress({ id: "a/1", token: "secret" }, signal);
  assert.equal(requests[0]?.url, "https://svc.example/v1/bridge/attempts/a%2F1?public_id=public_test_1");
  assert.deepEqual(requests[0]?.init.headers, { Authorization: "Bearer secret" });
});

test("both forms send an idempotency key, so duplicates count once", async () => {
  const { requests, api } = service([200, { success: true }], [200, { success: true }]);
  await api.missing({ email: "e", name: "n" }, signal);
  await api.support({ email: "e", name: "n", subject: "s", body: "b" }, signal);
  for (const { init } of requests)
    assert.equal((JSON.parse(String(init.body)) as { request_key?: string }).request_key, "k-1");
  assert.equal(requests.length, 2);
});

test("each failed response has a kind and a request ID", async () => {
  const kinds = {
    400: "refused",
    401: "foreign",
    404: "lost",
    409: "taken",
    413: "refused",
    429: "limited",
    500: "unavailable",
    503: "unavailable",
    504: "unavailable",
  };
  for (const [status, kind] of Object.entries(kinds)) {
    const { api } = service([
      Number(status),
      { success: false, error: "svc_x", error_description: "It.", request_id: "r" },
      { "Retry-After": "7" },
    ]);
    const answer = await api.missing({ email: "e", name: "n" }, signal);
    assert.deepEqual(answer, {
      ok: false,
      failure: { kind, error: "svc_x", description: "It.", cause: undefined, requestId: "r", retryAfter: 7000 },
    });
  }
});

test("a live public ID without live mode is a configuration error", async () => {
  const closed = { success: false, error: "svc_live_access_required", error_description: "It.", request_id: "r" };
  const answer = await service([403, closed]).api.missing({ email: "e", name: "n" }, signal);
  assert.equal(!answer.ok && answer.failure.kind, "foreign");
});

test("an HTML response and a missing response are failures", async () => {
  const proxy = await service([502, "<h1>Bad gateway</h1>"]).api.missing({ email: "e", name: "n" }, signal);
  assert.equal(!proxy.ok && proxy.failure.kind, "unavailable");
  const login = await service([200, "<h1>Hotel network</h1>"]).api.missing({ email: "e", name: "n" }, signal);
  assert.equal(login.ok, false);
  const dead = api({
    baseUrl: "https://svc.example/v1",
    publicId: "p",
    lang: () => "en",
    requestKey: "k-1",
    fetch: () => Promise.reject(new TypeError("no network")),
  });
  const nothing = await dead.missing({ email: "e", name: "n" }, signal);
  assert.equal(!nothing.ok && nothing.failure.kind, "network");
});

test("the healthiest of several endpoints is used", async () => {
  const endpoint = (id: string, state: string, status = "active") =>
    [200, { success: true, data: { id, name: id, status, platform_type: "sandbox", health: { state } } }] as [
      number,
      unknown,
    ];
  const { api } = service(
    endpoint("down", "down"),
    endpoint("gone", "ok", "suspended"),
    endpoint("fine", "unknown"),
    endpoint("weak", "degraded"),
  );
  const answer = await api.endpoint({ ids: ["1", "2", "3", "4"] }, signal);
  assert.equal(answer.ok && answer.data.id, "fine");
});

test("FHIR R4 is preferred to an unstated or older version", async () => {
  const endpoint = (id: string, version: string, state = "ok") =>
    [
      200,
      {
        success: true,
        data: { id, name: id, status: "active", fhir_version: version, platform_type: "sandbox", health: { state } },
      },
    ] as [number, unknown];
  const { api } = service(endpoint("dstu2", "1.0.2"), endpoint("unstated", ""), endpoint("r4", "4.0.1", "degraded"));
  const answer = await api.endpoint({ ids: ["1", "2", "3"] }, signal);
  assert.equal(answer.ok && answer.data.id, "r4");
});

test("portals with the same choice value form one row that keeps each endpoint's portal", async () => {
  const portal = (id: string, choice?: string) => ({
    id,
    name: "MyChart",
    portal_website: "",
    logo_uri: "",
    description: "",
    endpoint_ids: [`${id}-e`],
    choice,
  });
  const source = {
    id: "b",
    name: "Elm",
    brand_website: "",
    logo_uri: "",
    description: "",
    locations: [],
    platform_type: "sandbox",
    portals: [portal("p1", "c"), portal("p2", "c"), portal("p3")],
    portal_ids: [],
    distance_km: 25,
    most_used: true,
  };
  const { api } = service([
    200,
    { success: true, data: { hits: { total: { value: 1 }, hits: [{ sort: [1], _source: source }] } } },
  ]);
  const answer = await api.search({ query: "elm", state: "", zip: "" }, signal);
  assert.ok(answer.ok);
  const [hit] = answer.data.hits;
  assert.deepEqual(
    hit?.portals.map((one) => one.endpoint_ids),
    [["p1-e", "p2-e"], ["p3-e"]],
  );
  assert.deepEqual(hit?.portals[0]?.owners, { "p1-e": "p1", "p2-e": "p2" });
  assert.deepEqual([hit?.away, hit?.mostUsed], [25, true]);
});

test("the search request sends the searchAfter cursor unchanged", async () => {
  const { requests, api } = service([200, { success: true, data: { hits: { total: { value: 0 }, hits: [] } } }]);
  await api.search({ query: "alder", state: "NY", zip: "12203", after: [7.25, "alder", 3, "id"] }, signal);
  const sent = {
    query: "alder",
    suggest: true,
    searchAfter: [7.25, "alder", 3, "id"],
    locations: ["NY"],
    sortBy: "location",
    sortByOpts: { locationZipcodes: ["12203"] },
  };
  assert.deepEqual(JSON.parse(String(requests[0]?.init.body)), sent);
});
