/** Tests valid base URLs, and the older element's random values. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { baseOf, parameters } from "../address.ts";
import { attemptID, attemptToken } from "../random.ts";

const baseURL = (value: string | null): string =>
  baseOf({ getAttribute: (name) => (name === "base-url" ? value : null) });

test("a base URL must be http(s) and keeps only its origin and path", () => {
  assert.equal(baseURL("https://api.example.com/v1"), "https://api.example.com/v1");
  assert.equal(baseURL("https://api.example.com/v1/"), "https://api.example.com/v1");
  assert.equal(baseURL("http://[::1]:4566/v1?x=1#y"), "http://[::1]:4566/v1");
  assert.equal(baseURL("https://ada:secret@api.example.com/v1"), "https://api.example.com/v1");
  for (const wrong of [
    null,
    "",
    "/v1",
    "api.example.com",
    "//api.example.com",
    "javascript:alert(1)",
    "data:text/html,x",
    "https://",
    "https://a:b/v1",
    "ftp://api.example.com",
  ]) {
    assert.equal(baseURL(wrong), "", String(wrong));
  }
});

test("query parameters are escaped, and empty parameters are omitted", () => {
  assert.equal(
    parameters({ public_id: "a&b", lang: "", external_id: "é #" }),
    "public_id=a%26b&external_id=%C3%A9+%23",
  );
});

test("attempt IDs are random UUIDs, and tokens are 64 random hex digits", () => {
  const ids = Array.from({ length: 200 }, attemptID);
  const tokens = Array.from({ length: 200 }, attemptToken);
  for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  for (const token of tokens) assert.match(token, /^[0-9a-f]{64}$/);
  assert.equal(new Set([...ids, ...tokens]).size, 400);
});
