/** Tests events.schema.json against the types of protocol.ts. Both accept each example, and the schema rejects near misses. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Connection, Payload } from "../../kit/protocol.ts";
import schema from "../events.schema.json";
import { isValid } from "./validate.ts";

type Type = Payload["event_type"];
type Of<T extends Type> = Extract<Payload, { event_type: T }>;

const id = "6f1c2a52-0f6e-4d2b-9c0c-6a4a8a0f2a11";
const least: Connection = {
  org_connection_id: id,
  endpoint_id: id,
  portal_id: id,
  brand_id: id,
  connection_status: "authorized",
  platform_type: "sandbox",
};
const echoed = {
  request_id: "r-1",
  consent_expires_at: "2027-02-19T09:30:12.5+01:00",
  external_id: "visit-9",
  external_state: "s",
};
const most: Connection = { ...least, ...echoed, scope: "launch/patient patient/*.rs" };
const tefca: Connection = {
  org_connection_id: id,
  connection_status: "authorized",
  platform_type: "tefca",
  scope: "patient/*.read",
  tefca_directory_id: "urn:oid:2.999.1.7",
};
const failed = {
  endpoint_id: id,
  portal_id: id,
  brand_id: id,
  request_id: "r-1",
  error: "invalid_grant",
  error_description: "The patient declined.",
};
const searched = { query: "", timestamp: 1_795_000_000, filter: { locations: ["CA"] }, results: { total: 0 } };

/** The smallest and the largest example of each type. */
const VALID: { [T in Type]: Of<T>[] } = {
  "patient.connection_pending": [
    { api_mode: "test", event_type: "patient.connection_pending", data: { public_id: id } },
    {
      api_mode: "live",
      event_type: "patient.connection_pending",
      data: {
        public_id: id,
        brand_id: id,
        portal_id: id,
        endpoint_id: id,
        external_id: "visit-9",
        external_state: "s",
        org_connection_id: id,
      },
    },
  ],
  "patient.connection_success": [
    { api_mode: "test", event_type: "patient.connection_success", data: least },
    { api_mode: "live", event_type: "patient.connection_success", data: { ...most, connection_status: "revoked" } },
    { api_mode: "live", event_type: "patient.connection_success", data: tefca },
    { api_mode: "live", event_type: "patient.connection_success", data: { ...tefca, ...echoed } },
  ],
  "patient.connection_failed": [
    { api_mode: "test", event_type: "patient.connection_failed", data: failed },
    {
      api_mode: "live",
      event_type: "patient.connection_failed",
      data: {
        ...failed,
        connection_status: "revoked",
        platform_type: "sandbox",
        error_uri: "https://ehr.example/errors",
        external_id: "visit-9",
        external_state: "s",
      },
    },
  ],
  "widget.complete": [
    { api_mode: "test", event_type: "widget.complete", data: [] },
    { api_mode: "live", event_type: "widget.complete", data: [least, most, tefca] },
  ],
  "widget.close": [{ api_mode: "test", event_type: "widget.close", data: {} }],
  "widget.config_error": [{ api_mode: "test", event_type: "widget.config_error" }],
  "search.query": [
    { api_mode: "test", event_type: "search.query", data: searched },
    { api_mode: "live", event_type: "search.query", data: { ...searched, external_id: "visit-9" } },
  ],
  "widget.view": [
    { api_mode: "test", event_type: "widget.view", data: { view: "search" } },
    {
      api_mode: "live",
      event_type: "widget.view",
      data: { view: "institution", institution: { brand_id: id, portal_id: id, endpoint_id: id } },
    },
  ],
  "widget.exit": [
    { api_mode: "test", event_type: "widget.exit", data: { reason: "completed", view: "finish" } },
    {
      api_mode: "live",
      event_type: "widget.exit",
      data: { reason: "failed", view: "failed", error: "access_denied", request_id: "r-1" },
    },
  ],
  "widget.load_error": [{ api_mode: "test", event_type: "widget.load_error", data: { reason: "offline" } }],
};

/** Changes that make the data of a valid payload invalid. undefined removes a field. */
const WRONG: { [T in Type]: Record<string, unknown>[] } = {
  "patient.connection_pending": [
    { public_id: undefined },
    { org_connection_id: "" },
    { external_id: null },
    { email: "ada@example.org" },
  ],
  "patient.connection_success": [
    { org_connection_id: undefined },
    { connection_status: "pending" },
    { platform_type: undefined },
    { consent_expires_at: "soon" },
    { token: "x" },
  ],
  "patient.connection_failed": [
    { error: undefined },
    { request_id: undefined },
    { error_description: "¡No!" },
    { error_uri: "javascript:1" },
    { brand_id: undefined },
  ],
  "widget.complete": [{ 0: { ...least, org_connection_id: undefined } }, { 0: "x" }],
  "widget.close": [{ reason: "x" }],
  "widget.config_error": [],
  "search.query": [
    { timestamp: 1.5 },
    { timestamp: 1_795_000_000_000 },
    { filter: {} },
    { results: { total: "1" } },
    { query: undefined },
  ],
  "widget.view": [
    { view: undefined },
    { view: "" },
    { institution: { name: "Alder Clinic" } },
    { institution: { brand_id: "" } },
    { query: "x" },
  ],
  "widget.exit": [
    { reason: "bored" },
    { reason: undefined },
    { view: undefined },
    { error: "a b" },
    { request_id: "" },
  ],
  "widget.load_error": [
    { reason: undefined },
    { reason: "" },
    { reason: "No network" },
    { url: "https://api.example" },
  ],
};

for (const type of Object.keys(VALID) as Type[]) {
  test(`${type} matches its schema`, () => {
    for (const payload of VALID[type]) assert(isValid(payload, schema), JSON.stringify(payload));
    const [first] = VALID[type];
    assert(first);
    assert(!isValid({ ...first, api_mode: "sandbox" }, schema));
    assert(!isValid({ ...first, data: "data" in first ? undefined : {}, more: 1 }, schema));
    for (const change of WRONG[type]) {
      const data = "data" in first ? first.data : undefined;
      const wrong: unknown = JSON.parse(
        JSON.stringify({ ...first, data: Object.assign(Array.isArray(data) ? [] : { ...data }, change) }),
      );
      assert(!isValid(wrong, schema), JSON.stringify(wrong));
    }
  });
}

test("each connection has either institution IDs or TEFCA fields, not both", () => {
  const without = (data: object, name: string): object =>
    Object.fromEntries(Object.entries(data).filter(([key]) => key !== name));
  const success = (data: object): boolean =>
    isValid({ api_mode: "test", event_type: "patient.connection_success", data }, schema);
  for (const name of ["endpoint_id", "portal_id", "brand_id"]) {
    assert(!success(without(most, name)), name);
    assert(!success({ ...tefca, [name]: id }), name);
  }
  for (const name of ["scope", "tefca_directory_id"]) assert(!success(without(tefca, name)), name);
  for (const change of [{ scope: "patient/*.rs" }, { platform_type: "sandbox" }])
    assert(!success({ ...tefca, ...change }));
  for (const change of [{ tefca_directory_id: "urn:oid:1.2" }, { platform_type: "tefca" }])
    assert(!success({ ...most, ...change }));
});

test("event types and schemas correspond", () => {
  assert.deepEqual(schema.oneOf.map(({ $ref }) => $ref.replace("#/$defs/", "")).sort(), Object.keys(VALID).sort());
});
