/** Sample data of an organisation that has used the service for some time. */
import type {
  AuditRow,
  ConnectionDetail,
  Credential,
  DeliveryDetail,
  ExportDetail,
  InquiryDetail,
  Invitation,
  LoggedRequest,
  Member,
  Mode,
  UsedMonth,
  BrandedOrganisation,
  LiveAccess,
  DashboardSession,
  OrganisationDeletion,
  SignIn,
  Webhook,
  WebhookType,
} from "../api/records.ts";

export const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
export const ORG = id(1);
export const OTHER = id(2);

/** Returns the time that is the given number of minutes before now. */
export const before = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

const day = 24 * 60;

export interface World {
  session: DashboardSession;
  signedIn: boolean;
  organisation: BrandedOrganisation;
  deletion?: OrganisationDeletion | undefined;
  live: LiveAccess;
  credentials: Credential[];
  webhooks: Webhook[];
  deliveries: DeliveryDetail[];
  searchedTo?: string; // time back to which the delivery list was searched
  requests: LoggedRequest[];
  signIns: SignIn[];
  connections: ConnectionDetail[];
  exports: ExportDetail[];
  inquiries: InquiryDetail[];
  members: Member[];
  invitations: Invitation[];
  audit: AuditRow[];
  months: UsedMonth[];
}

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

function failed(n: number): DeliveryDetail {
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

const pending: ExportDetail = {
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

const whole: ExportDetail = {
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

const lost: ExportDetail = {
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

function connection(n: number, over: Partial<ConnectionDetail> = {}): ConnectionDetail {
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

/** Returns the sample data, or the data of a new organisation. */
export function world(isNew = false): World {
  const all = <T>(...rows: T[]): T[] => (isNew ? [] : rows);
  return {
    signedIn: true,
    session: {
      account: {
        id: id(11),
        email: "ada@alder.example",
        totp: false,
        recovery_codes_left: 10,
        passkeys: all({ id: "key-1", name: "Work laptop", created_at: before(30 * day), used_at: before(50) }),
      },
      csrf_token: "t".repeat(43),
      needs: "",
      fresh_until: before(-10),
      ends_at: before(-120),
      organisations: all(
        { id: ORG, name: "Alder Health", role: "owner" as const, plan: "paid" as const, status: "active" as const },
        { id: OTHER, name: "Birch Labs", role: "viewer" as const, plan: "free" as const, status: "active" as const },
      ),
    },
    organisation: {
      version: "1",
      id: ORG,
      name: "Alder Health",
      logo_uri: "",
      accent: "#f2b01e",
      accent_contrast: 1.9,
      accent_contrast_dark: 8.7,
      font: "",
      color_scheme: "auto",
      purpose: "",
      purpose_es: "",
      privacy_policy_uri: "https://alder.example/privacy",
      terms_uri: "https://alder.example/terms",
      website_uri: "https://alder.example",
      emails: ["ops@alder.example", "new@alder.example"],
      verified_emails: ["ops@alder.example"],
      plan: "paid",
      status: "active",
      live_access: "granted",
    },
    live: {
      stage: "granted",
      checklist: [
        { step: "privacy_policy", done: true },
        { step: "notice_address_verified", done: true },
        { step: "owners_two_factor", done: true },
        { step: "webhook_verified", done: true },
      ],
    },
    credentials: all(credential("test", 1)),
    webhooks: all(
      webhook(1),
      webhook(2, {
        url: "https://old.example/hook",
        disabled: { at: before(2 * day), reason: "failing" },
        health: { failures: 40, failing_since: before(7 * day), last_failure_at: before(2 * day) },
      }),
    ),
    deliveries: all(
      delivery(1),
      failed(2),
      delivery(3, { status: "exhausted", type: "patient.ehi_export_success", attempt: 10 }),
      delivery(4, { status: "held", webhook_id: id(202), last_status: 0, attempts: [] }),
    ),
    requests: all(
      {
        request_id: id(901),
        at: before(3),
        method: "POST",
        route: "/bridge/fhir/ehi-export",
        status: 404,
        error: "svc_not_found",
        public_id: `public_test_${id(101)}`,
        latency_ms: 18,
        org_connection_id: id(599),
      },
      {
        request_id: id(902),
        at: before(4),
        method: "GET",
        route: "/bridge/org_connection/{orgConnectionId}",
        status: 200,
        public_id: `public_test_${id(101)}`,
        latency_ms: 9,
        org_connection_id: id(501),
      },
    ),
    signIns: all(
      {
        attempt_id: id(911),
        at: before(6),
        kind: "connect" as const,
        outcome: "failed" as const,
        cause: "no_answer",
        request_id: id(912),
        brand_id: id(31),
        portal_id: id(32),
        endpoint_id: id(33),
        endpoint_name: "Sandbox General Hospital",
        duration_ms: 61_000,
      },
      {
        attempt_id: id(913),
        at: before(60),
        kind: "tefca" as const,
        outcome: "connected" as const,
        request_id: id(914),
        tefca_directory_id: "urn:oid:2.999.1.7",
        duration_ms: 95_000,
        org_connection_id: id(501),
      },
    ),
    connections: all(
      connection(1),
      connection(2, {
        status: "revoked",
        cause: "consent_ended",
        suggested_action: "Ask the patient to reconnect.",
        exports: [lost],
      }),
    ),
    exports: all(pending, whole, lost),
    inquiries: all(
      {
        inquiry_id: id(701),
        kind: "support" as const,
        status: "open" as const,
        name: "Ada Maple",
        subject: "I cannot sign in",
        created_at: before(90),
        email: "ada.maple@mail.example",
        email_verified: false,
        body: "The portal says that my password is wrong.\nWhat can I do?",
        health_system: "Sandbox General Hospital",
        answers: [],
      },
      {
        inquiry_id: id(702),
        kind: "health_system" as const,
        status: "answered" as const,
        name: "Cedar Hospital",
        created_at: before(2 * day),
        email: "juniper@mail.example",
        email_verified: true,
        website: "https://cedar.example",
        street_address: "1 Elm Street",
        answers: [
          {
            at: before(day),
            by: `member:${id(12)}`,
            text: "Thank you. We requested the hospital.",
            delivery: "sent" as const,
          },
        ],
      },
    ),
    members: all(
      { version: "1", account_id: id(11), email: "ada@alder.example", role: "owner" as const, since: before(90 * day) },
      {
        version: "1",
        account_id: id(12),
        email: "grace@alder.example",
        role: "developer" as const,
        since: before(12 * day),
      },
    ),
    invitations: all({
      id: id(801),
      email: "alan@alder.example",
      role: "viewer" as const,
      created_at: before(day),
      expires_at: before(-6 * day),
    }),
    audit: all(
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
    ),
    months: [5, 4, 3, 2, 1, 0].map((back) => ({
      month: new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - back, 1))
        .toISOString()
        .slice(0, 7),
      connections: 40 + 31 * (5 - back),
      exports_succeeded: 60 + 40 * (5 - back),
      exports_failed: back === 2 ? 22 : 3,
      deliveries: 400,
      rejections: 2,
      revocations: 5,
      inquiries: 1,
    })),
  };
}
