import assert from "node:assert/strict";
import { test } from "node:test";
import { fragmentOf, mayTake, pageConfig } from "./given.ts";
import type { Boot } from "./boot.ts";

test("the older element's window accepts only the organisation's pages", () => {
  const origins = ["https://app.example", "https://app.example:8443"];
  for (const [api_mode, allowed_origins, referrer, may] of [
    ["live", origins, "https://app.example/", true],
    ["live", origins, "https://app.example:8443/patients?x=1", true],
    ["live", origins, "https://app.example.attacker.example/", false],
    ["live", origins, "https://attacker.example/?https://app.example/", false],
    ["live", origins, "http://app.example/", false],
    ["live", origins, "", false], // a link in an email
    ["test", origins, "", false],
    ["live", [], "https://app.example/", false],
    ["test", [], "", true],
  ] as const) {
    assert.equal(
      mayTake({ api_mode, allowed_origins: [...allowed_origins] }, referrer),
      may,
      `${api_mode} ${allowed_origins.length} ${referrer}`,
    );
  }
});

test("a hosted page reads its query string, and the older element's window reads its fragment", () => {
  const boot = {
    public_id: "public_test_1",
    query: { external_id: "of the query", redirect_uri: "https://app.example/back" },
  } as Boot;
  assert.equal(fragmentOf("#attempt_id=a"), undefined);
  const fragment = fragmentOf(
    "#attempt_id=a&attempt_token=t&external_id=of%20the%20fragment&reconnect_org_connection_id=c",
  );
  assert.equal(pageConfig(boot, undefined).externalId, "of the query");
  assert.equal(pageConfig(boot, undefined).showSplash, true);
  assert.equal(pageConfig(boot, fragment).externalId, "of the fragment");
  assert.equal(pageConfig(boot, fragment).showSplash, false);
});
