/** Fake facilities for TEFCA mode, in the server's format. */
import assert from "node:assert/strict";
import schema from "../../sdk/events.schema.json";
import { isValid } from "../../sdk/test/validate.ts";
import type { Config } from "../../kit/protocol.ts";
import type { Facility, Standing } from "../api/records.ts";
import { Bench } from "./bench.ts";

export const second = 1000;
export const minute = 60 * second;

export const one = (n: number, more: Partial<Facility> = {}): Facility => ({
  tefca_directory_id: `urn:oid:2.999.1.${n}`,
  name: `Place ${n}`,
  city: "Madison",
  state: "WI",
  match: "found",
  ...more,
});

/** Returns a connected facility in the server's format. */
export function connected(n: number, more: Partial<Facility> = {}): Facility {
  const connection = {
    ...{
      org_connection_id: `6f1c2a52-0f6e-4d2b-9c0c-6a4a8a0f2a1${n}`,
      connection_status: "authorized" as const,
      platform_type: "tefca",
      scope: "patient/*.read",
    },
    ...{ tefca_directory_id: `urn:oid:2.999.1.${n}`, request_id: "r-1", external_id: "visit-9" },
  };
  return one(n, { outcome: "connected", connection, ...more });
}

export const alive = { identity_expires_at: "2026-11-21T10:00:00Z" };
export const located = (...facilities: Facility[]): Standing => ({ status: "located", ...alive, facilities });

export const tefca = (config: Partial<Config> = {}): Bench =>
  new Bench({ tefcaMode: true, externalId: "visit-9", externalState: "s-1", ...config });

/** Asserts that every event matches its schema and that no event reports a failure. */
export function assertEvents(bench: Bench): void {
  for (const event of bench.events) assert(isValid(JSON.parse(JSON.stringify(event)), schema), JSON.stringify(event));
  assert.deepEqual(bench.told("patient.connection_failed"), []);
}
