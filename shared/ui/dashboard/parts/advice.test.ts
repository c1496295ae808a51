import assert from "node:assert/strict";
import { test } from "node:test";
import { advice } from "./advice.ts";

test("advice for a rate limit includes the Retry-After time", () => {
  for (const [retryAfter, want] of [
    [1, "in 1 second"],
    [30, "in 30 seconds"],
    [60, "in 1 minute"],
    [2316, "in 39 minutes"],
    [7200, "in 2 hours"],
    [undefined, "later"],
  ] as const) {
    const failure = {
      status: 429,
      error: "svc_rate_limited",
      description: "",
      requestId: "",
      ...(retryAfter && { retryAfter }),
    };
    assert.equal(advice(failure), `Too many requests. Try again ${want}.`);
  }
});
