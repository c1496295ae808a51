/** Sample audit rows, newest first. */
import type { AuditRow } from "../api/records.ts";
import { before, id, ORG } from "./ids.ts";

export function auditRows(): AuditRow[] {
  return [
    {
      seq: 6,
      at: before(10),
      actor: "operator",
      from: "ctl",
      action: "organisation.changed",
      target: ORG,
      mode: "live" as const,
      changes: [{ field: "plan", old: "free", new: "paid" }],
      hash: "f".repeat(64),
    },
    {
      seq: 5,
      at: before(20),
      actor: `member:${id(11)}`,
      from: "203.0.113.0/24",
      action: "member.made_developer",
      target: id(12),
      mode: "live" as const,
      changes: [{ field: "role", old: "admin", new: "developer" }],
      hash: "e".repeat(64),
    },
    {
      seq: 4,
      at: before(30),
      actor: `member:${id(12)}`,
      from: "2001:db8:1::/48",
      action: "webhook.removed",
      target: id(299),
      mode: "test" as const,
      changes: [{ field: "url", old: "https://old.example/webhooks", new: "" }],
      hash: "d".repeat(64),
    },
    {
      seq: 3,
      at: before(40),
      actor: `member:${id(11)}`,
      from: "203.0.113.0/24",
      action: "webhook.changed",
      target: id(201),
      mode: "test" as const,
      changes: [
        { field: "rate", old: "", new: "5" },
        { field: "types", old: "patient.ehi_export_progress", new: "" },
        { field: "headers", old: "", new: "Authorization" },
        { field: "header_values", old: "hidden", new: "hidden" },
      ],
      hash: "c".repeat(64),
    },
    {
      seq: 2,
      at: before(50),
      actor: `member:${id(11)}`,
      action: "webhook.created",
      target: id(201),
      mode: "test" as const,
      hash: "b".repeat(64),
    },
    {
      seq: 1,
      at: before(60),
      actor: `member:${id(11)}`,
      action: "credential.created",
      target: id(101),
      mode: "test" as const,
      hash: "a".repeat(64),
    },
  ];
}
