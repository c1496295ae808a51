import assert from "node:assert/strict";
import test from "node:test";
import { address, parse } from "./router.ts";

const org = "0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b";

test("a route round-trips through its URL", () => {
  for (const place of [
    {
      org,
      mode: "live",
      screen: "deliveries",
      id: "",
      filters: { status: "exhausted", type: "patient.ehi_export_success" },
    },
    { org, mode: "test", screen: "credentials", id: "public_test_1", filters: {} },
    { org: "", mode: "test", screen: "account", id: "", filters: {} },
    { org: "", mode: "test", screen: "invitation", id: "a/b?c#d%", filters: {} },
  ] as const) {
    assert.deepEqual(parse(address(place)), place);
  }
});

test("email links omit the organisation, and an invalid URL opens the overview", () => {
  assert.deepEqual(parse("#/live/webhooks/w1"), { org: "", mode: "live", screen: "webhooks", id: "w1", filters: {} });
  for (const odd of ["", "#", "#/", "#//", "#/%E0%A4%A"]) assert.equal(parse(odd).screen, "");
  assert.equal(parse(`#/${org}`).mode, "test");
});
