/** A world whose lists fill the largest page. */
import { id } from "./ids.ts";
import { world } from "./world.ts";
import type { World } from "./world.ts";

/** The most rows that the API returns on a page. */
const ROWS = 100;

/** Repeats sample rows under new IDs. */
function repeat<T extends object>(rows: readonly T[], key: keyof T & string): T[] {
  return Array.from({ length: ROWS }, (_, n) => ({ ...rows[n % rows.length]!, [key]: id(10_000 + n) }));
}

export function crowd(): World {
  const of = world();
  return {
    ...of,
    credentials: repeat(of.credentials, "public_id").map((one) => ({
      ...one,
      public_id: `public_test_${one.public_id}`,
    })),
    webhooks: repeat(of.webhooks, "webhook_id"),
    deliveries: repeat(of.deliveries, "delivery_id"),
    connections: repeat(of.connections, "org_connection_id"),
    exports: repeat(of.exports, "task_id"),
    inquiries: repeat(of.inquiries, "inquiry_id"),
    members: repeat(of.members, "account_id"),
    audit:
      of.audit.length === 0
        ? []
        : Array.from({ length: ROWS }, (_, n) => ({ ...of.audit[n % of.audit.length]!, seq: ROWS - n })),
  };
}
