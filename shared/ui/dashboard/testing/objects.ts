/** Sample webhooks, deliveries, credentials, connections and exports. */
import type {
  ConnectionDetail,
  Credential,
  DeliveryDetail,
  ExportDetail,
  Mode,
  Webhook,
  WebhookType,
} from "../api/records.ts";
import { before, day, id } from "./ids.ts";

export const TYPES: WebhookType[] = [
  {
    type: "patient.ehi_export_success",
    title: "Record is ready",
    when: "An export succeeded, with links to its files.",
    default: "required",
  },
  {
    type: "patient.ehi_export_failed",
    title: "Export failed",
    when: "An export failed without files.",
    default: "required",
  },
  { type: "webhook.test", title: "Test event", when: "Someone sends a test event.", default: "required" },
  {
    type: "patient.connection_success",
    title: "Patient connected",
    when: "A patient connected or declined.",
    default: "on",
  },
  {
    type: "patient.authorization_revoked",
    title: "Authorization ended",
    when: "A connection is no longer usable.",
    default: "on",
  },
  {
    type: "patient.ehi_export_progress",
    title: "Export progress",
    when: "A running export made progress.",
    default: "opt-in",
  },
];

const request = {
  "Content-Type": "application/json",
  "User-Agent": "Recordbridge/4",
  "Webhook-Id": id(301),
  "Webhook-Timestamp": "1790000000",
  "Webhook-Signature": "v1,bm90IGEgc2lnbmF0dXJl",
};

export function delivery(n: number, over: Partial<DeliveryDetail> = {}): DeliveryDetail {
  const body = JSON.stringify({
    api_mode: "test",
    date: before(30),
    id: id(300 + n),
    type: "webhook.test",
    data: { hello: "world", random: "x1" },
  });
  return {
    delivery_id: id(400 + n),
    event_id: id(300 + n),
    webhook_id: id(201),
    type: "webhook.test",
    status: "delivered",
    attempt: 1,
    last_status: 200,
    created_at: before(30 * n),
    body,
    attempts: [
      {
        number: 1,
        trigger: "schedule",
        at: before(30 * n),
        latency_ms: 143,
        request_headers: request,
        status: 200,
        response_headers: { "Content-Type": "text/plain" },
        response: "ok",
      },
    ],
    ...over,
  };
}

export function failed(n: number): DeliveryDetail {
  const attempt = (number: number, minutes: number) => ({
    number,
    trigger: "schedule" as const,
    at: before(minutes),
    latency_ms: 15_000,
    request_headers: request,
    status: 0,
    response_headers: {},
    failure: "timeout",
  });
  return delivery(n, {
    status: "scheduled",
    type: "patient.connection_success",
    org_connection_id: id(501),
    external_id: "patient-1",
    attempt: 3,
    last_status: 503,
    last_failure: "http_status",
    next_at: new Date(Date.now() + 300_000).toISOString(),
    attempts: [
      attempt(1, 40),
      { ...attempt(2, 35), status: 503, failure: "http_status", response: `{"error":"down for maintenance"}` },
    ],
  });
}

export function webhook(n: number, over: Partial<Webhook> = {}): Webhook {
  return {
    version: "1",
    webhook_id: id(200 + n),
    url: "https://app.example/webhooks/records",
    note: "",
    types: TYPES.filter((one) => one.default !== "opt-in").map(({ type }) => type),
    headers: ["Authorization"],
    rate: 0,
    old_secrets_end: [],
    health: { failures: 0, last_failure_at: before(3 * day) },
    created_at: before(20 * day),
    ...over,
  };
}

export function credential(mode: Mode, n: number, over: Partial<Credential> = {}): Credential {
  return {
    version: "1",
    public_id: `public_${mode}_${id(100 + n)}`,
    note: "Web app",
    redirect_uris: ["http://localhost:3000/connected"],
    allowed_origins: ["https://app.example"],
    keys: [{ key_id: id(150 + n), created_at: before(40 * day), last_used_at: before(60) }],
    created_at: before(40 * day),
    ...over,
  };
}

export const pending: ExportDetail = {
  task_id: "0".repeat(31) + "3",
  org_connection_id: id(501),
  status: "pending",
  created_at: before(4),
  outcome: [],
  files: [],
  deliveries: [],
  suggested_action: "Wait for the export to complete.",
  progress: { queries_done: 31, queries_planned: 48, resources: 812, bytes: 3_412_000 },
};

export const whole: ExportDetail = {
  task_id: "0".repeat(31) + "1",
  org_connection_id: id(501),
  status: "success",
  progress: { queries_done: 51, queries_planned: 51, resources: 1546, bytes: 4_100_000 },
  created_at: before(day),
  finished_at: before(day - 6),
  files_until: before(-6 * day),
  event_id: id(302),
  scope: {
    asked: "launch/patient patient/*.rs offline_access",
    granted:
      "launch/patient patient/Patient.rs patient/Observation.rs patient/Condition.rs patient/DocumentReference.rs offline_access",
  },
  files: [
    { file_name: "records.jsonl", export_type: "jsonl", bytes: 4_100_000, sha256: "0123456789abcdef".repeat(4) },
    { file_name: "outcome.json", export_type: "outcome", bytes: 2_100, sha256: "fedcba9876543210".repeat(4) },
  ],
  deliveries: [{ delivery_id: id(402), webhook_id: id(201), status: "delivered" }],
  suggested_action: "Ask the patient to reconnect and allow all requested access.",
  outcome: [
    { type: "Patient", result: "ok", count: 1 },
    { type: "Observation", result: "ok", count: 1284, only_by: "category" },
    { type: "Condition", result: "ok", count: 37 },
    {
      type: "DocumentReference",
      result: "truncated",
      count: 210,
      missing: 12,
      reason: "unavailable",
      http_status: 503,
    },
    { type: "Practitioner", result: "truncated", count: 14, missing: 3, reason: "other_server" },
    { type: "Coverage", result: "denied", count: 0, reason: "not_granted" },
    { type: "Appointment", result: "unsupported", count: 0, reason: "unsupported" },
    { type: "Immunization", result: "empty", count: 0 },
  ],
};

export const lost: ExportDetail = {
  task_id: "0".repeat(31) + "2",
  org_connection_id: id(502),
  status: "failed",
  failure_reason: "token_refresh_failure",
  progress: { queries_done: 0, queries_planned: 0, resources: 0, bytes: 0 },
  created_at: before(2 * day),
  finished_at: before(2 * day - 1),
  outcome: [],
  files: [],
  deliveries: [],
  suggested_action: "The patient must reconnect.",
};

export function connection(n: number, over: Partial<ConnectionDetail> = {}): ConnectionDetail {
  return {
    org_connection_id: id(500 + n),
    status: "authorized",
    external_id: `patient-${n}`,
    endpoint_id: id(600),
    endpoint_name: "Sandbox General Hospital",
    platform_type: "sandbox",
    created_at: before(day * n),
    renewal: { failures: 0 },
    timeline: [
      { at: before(day * n - 36), what: "export_succeeded", task_id: whole.task_id },
      { at: before(day * n - 30), what: "export_begun", task_id: whole.task_id },
      { at: before(day * n), what: "connected" },
    ],
    exports: [whole, pending],
    ...over,
  };
}
