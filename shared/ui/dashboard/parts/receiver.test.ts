import assert from "node:assert/strict";
import { test } from "node:test";
import { explain } from "./receiver.ts";

test("explain names the remedy for each way in which a receiver fails", () => {
  for (const [attempt, remedy] of [
    [{ failure: "http_status", status: 401 }, /webhook’s secret, and verify the raw body/],
    [{ failure: "http_status", status: 404 }, /webhook’s URL/],
    [{ failure: "http_status", status: 301 }, /don’t follow redirects/],
    [{ failure: "http_status", status: 500 }, /Check its logs/],
    [{ failure: "http_status", status: 418 }, /2xx/],
    [{ failure: "timeout", status: 0 }, /Respond first/],
    [{ failure: "tls", status: 0 }, /certificate/],
    [{ failure: "new_failure", status: 0 }, /^new_failure$/],
    [{ failure: "", status: 204 }, /^$/],
  ] as const)
    assert.match(explain(attempt), remedy);
});
