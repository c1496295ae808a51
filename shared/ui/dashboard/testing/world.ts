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
  UsedMonth,
  BrandedOrganisation,
  LiveAccess,
  DashboardSession,
  OrganisationDeletion,
  SignIn,
  Webhook,
} from "../api/records.ts";
import { auditRows } from "./auditrows.ts";
import { before, day, id, ORG, OTHER } from "./ids.ts";
import { connection, credential, delivery, failed, lost, pending, webhook, whole } from "./objects.ts";

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
    audit: all(...auditRows()),
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
