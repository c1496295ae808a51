/**
 * Types of the dashboard's API responses (docs/openapi.yaml, tag Dashboard). Times are RFC 3339. In responses, an empty
 * string and an absent field both mean that no value is set.
 */

export type Mode = "test" | "live";
export type Role = "owner" | "admin" | "developer" | "viewer";

/**
 * A page of a list. next is the cursor of the following page and is absent on the last page. A page may contain fewer
 * entries than the limit, because the server limits how much it scans.
 */
export type Listed<Name extends string, T> = Record<Name, T[]> & {
  next?: string;
  searched_to?: string; // present if the search stopped before it found a full page
};

/** An object that can be edited. Its version identifies the values of the fields that an edit can change. */
export interface Versioned {
  version: string;
}

export interface DashboardSession {
  account: Account;
  csrf_token: string;
  needs: "" | "second_factor";
  fresh_until: string;
  ends_at: string;
  organisations: Membership[];
  recovery_codes?: string[]; // only with the account's first second factor
}

export interface Account {
  id: string;
  email: string;
  totp: boolean;
  passkeys: Passkey[];
  recovery_codes_left: number;
}

export interface Passkey {
  id: string;
  name: string;
  created_at: string;
  used_at?: string;
}

export interface Membership {
  id: string;
  name: string;
  role: Role;
  plan: "free" | "paid";
  status: "active" | "inactive";
}

export interface SentCode {
  verification_id: string;
  expires_at: string;
  resend_after: string;
}

export interface BrandedOrganisation extends Versioned {
  id: string;
  name: string;
  logo_uri: string;
  accent: string;
  accent_contrast?: number; // contrast of the accent on the light background, 1 to 21
  accent_contrast_dark?: number; // contrast of the accent on the dark background, 1 to 21
  radius?: number; // in pixels; absent for the default
  font: string; // a CSS font-family list, or empty
  color_scheme: ColorScheme;
  purpose: string; // the organisation's purpose in English
  purpose_es: string; // and in Spanish
  privacy_policy_uri: string;
  terms_uri: string;
  website_uri: string;
  emails: string[];
  verified_emails: string[]; // the subset of emails that receives notices
  plan: "free" | "paid";
  status: "active" | "inactive";
  live_access: LiveStage;
}

export type ColorScheme = "auto" | "light" | "dark";
export type LiveStage = "none" | "requested" | "granted" | "withdrawn";
export type LiveStep = "privacy_policy" | "notice_address_verified" | "owners_two_factor" | "webhook_verified";

export interface LiveAccess {
  stage: LiveStage;
  checklist: { step: LiveStep; done: boolean }[];
  purpose?: string;
  requested_at?: string;
  reason?: string; // the reason for a rejection or withdrawal
  decided_at?: string;
}

export interface OrganisationDeletion {
  stage: string; // always "scheduled"
  requested_at: string;
  begins_at: string;
  can_cancel: boolean;
}

export interface Overview {
  credentials: number;
  webhooks: number;
  failing_webhooks: { webhook_id: string; url: string; failures: number; since: string; disabled: boolean }[];
  checklist: { step: Step; done: boolean }[]; // in order of execution
  limits: { name: "concurrent_exports" | "webhooks"; used: number; limit: number }[];
}

export type Step =
  "credential_made" | "redirect_registered" | "webhook_made" | "webhook_verified" | "first_connection" | "first_export";

export interface Credential extends Versioned {
  public_id: string;
  note: string;
  redirect_uris: string[];
  allowed_origins: string[];
  keys: Key[];
  created_at: string;
}

export interface Key {
  key_id: string;
  created_at: string;
  last_used_at?: string; // precise to the hour
  revoked_at?: string;
}

/** A new key. The API returns the private key only once. */
export interface NewCredential {
  credential: Credential;
  private_key: string;
}

export interface WebhookType {
  type: string;
  title: string;
  when: string;
  default: "required" | "on" | "opt-in";
}

export interface Webhook extends Versioned {
  webhook_id: string;
  url: string;
  note: string;
  types: string[];
  headers: string[]; // header names; the values are secret
  rate: number; // attempts per second; 0 for the default
  public_key?: string; // the signing key, "whpk_…"
  old_secrets_end: string[]; // expiry of each old secret that still signs
  disabled?: { at: string; reason: "gone" | "asked" | "failing" | "by_hand" };
  health: {
    failures: number;
    failing_since?: string;
    last_failure_at?: string;
    paused_until?: string;
    slow_until?: string;
    answer_ms?: number;
  };
  created_at: string;
}

export interface NewWebhook {
  webhook: Webhook;
  secret: string;
}

export interface Secrets {
  secrets: { secret: string; expires_at?: string }[]; // newest first
}

export type DeliveryStatus = "scheduled" | "inflight" | "delivered" | "exhausted" | "held";

export interface Delivery {
  delivery_id: string;
  event_id: string;
  webhook_id: string;
  type: string;
  status: DeliveryStatus;
  attempt: number; // number of the next, current or last attempt
  org_connection_id?: string;
  external_id?: string; // the organisation's ID for the connection's patient
  last_status?: number;
  last_failure?: string;
  next_at?: string;
  created_at: string;
}

export interface DeliveryDetail extends Delivery {
  body?: string; // only for roles that may view payloads, while the event is kept
  attempts: DeliveryAttempt[];
}

export interface DeliveryAttempt {
  number: number;
  trigger: "schedule" | "manual";
  at: string;
  latency_ms: number;
  status?: number; // absent if there was no response
  failure?: string;
  request_headers?: Record<string, string>; // the next three fields are only for roles that may view payloads
  response_headers?: Record<string, string>;
  response?: string;
}

/** An API request with one of the organisation's credentials. */
export interface LoggedRequest {
  request_id: string;
  at: string;
  method: string;
  route: string; // the path's pattern
  status: number;
  error?: string;
  public_id: string;
  latency_ms: number;
  org_connection_id?: string;
  task_id?: string;
}

/** A finished sign-in attempt. In TEFCA mode, each facility is a separate SignIn. */
export interface SignIn {
  attempt_id: string;
  at: string;
  kind: "connect" | "reconnect" | "tefca";
  outcome: "connected" | "failed" | "cancelled";
  cause?: string;
  request_id: string; // of the request that failed the attempt or, for a connection, that began it
  brand_id?: string;
  portal_id?: string;
  endpoint_id?: string;
  endpoint_name?: string;
  tefca_directory_id?: string;
  duration_ms: number;
  org_connection_id?: string;
}

export interface ConnectionLine {
  org_connection_id: string;
  status: "authorized" | "revoked" | "rejected";
  external_id?: string; // the organisation's ID for the patient
  cause?: string; // why the connection is not healthy
  suggested_action?: string;
  endpoint_id?: string; // absent for TEFCA connections
  endpoint_name?: string;
  brand_id?: string;
  portal_id?: string;
  tefca_directory_id?: string;
  platform_type: string;
  created_at: string;
  consent_expires_at?: string;
  ended_at?: string;
}

export interface ConnectionDetail extends ConnectionLine {
  scope?: string;
  renewal: { next_at?: string; renewed_at?: string; failures: number };
  timeline: { at: string; what: string; task_id?: string }[]; // newest first
  exports: Omit<ExportLine, "org_connection_id">[];
}

/** An erasure's state and, after the erasure has finished, its proof. */
export interface ErasureState {
  erasure_id: string;
  stage: "finding" | "ending" | "confirming" | "removing" | "events" | "deliveries" | "clearing" | "looking" | "done";
  requested_at: string;
  finished_at?: string;
  portal?: "nothing_to_revoke" | "asked" | "unanswered";
  counts: Record<string, number>;
}

export interface ExportLine {
  task_id: string;
  org_connection_id: string;
  status: "pending" | "success" | "failed";
  failure_reason?: string;
  created_at: string;
  finished_at?: string;
}

export interface ExportDetail extends ExportLine {
  progress: { queries_done: number; queries_planned: number; resources: number; bytes: number };
  files_until?: string;
  event_id?: string; // the event that reported the end of the export
  scope?: { asked?: string; granted?: string };
  outcome: TypeOutcome[];
  files: FileSummary[];
  deliveries: { delivery_id: string; webhook_id: string; status: DeliveryStatus }[]; // deliveries of the event event_id
  suggested_action: string; // "" if no action is needed
}

/** A file, without a download link. */
export interface FileSummary {
  file_name: string;
  export_type: "jsonl" | "jsonl_gz" | "fhir_bundle" | "outcome";
  bytes: number;
  sha256: string;
}

export interface TypeOutcome {
  type: string;
  result: "ok" | "empty" | "denied" | "unsupported" | "truncated" | "failed";
  count: number;
  missing?: number;
  left_out?: number; // resources of another patient
  only_by?: "category" | "status" | "intent";
  http_status?: number;
  reason?: string;
}

export interface UsedMonth {
  month: string; // YYYY-MM
  connections: number; // number of authorizations, including reconnects
  rejections: number; // number of patients who declined
  revocations: number;
  exports_succeeded: number;
  exports_failed: number;
  inquiries: number;
  deliveries: number; // one per event and webhook, regardless of retries
}

export interface Inquiry {
  inquiry_id: string;
  kind: "support" | "health_system";
  status: "open" | "answered" | "closed";
  name?: string; // name of the patient or of the missing health system
  subject?: string;
  created_at: string;
}

export interface InquiryDetail extends Inquiry {
  email?: string;
  email_verified: boolean;
  body?: string;
  health_system?: string;
  website?: string;
  street_address?: string;
  answers: { at: string; by: string; text: string; delivery: "sending" | "sent" | "refused" }[]; // oldest first
}

export interface Member extends Versioned {
  recovers_at?: string; // set while an operator's recovery of an owner's account is pending
  account_id: string;
  email: string;
  role: Role;
  since: string;
}

export interface Invitation {
  id: string;
  email: string;
  role: Role;
  created_at: string;
  expires_at: string;
}

export interface AuditChange {
  field: string;
  new: string;
  old: string;
}

export interface AuditRow {
  seq: number;
  at: string;
  mode?: Mode;
  actor: string;
  from?: string;
  action: string;
  target: string;
  changes?: AuditChange[];
  hash: string;
}

/** An institution in the public API's search results. */
export interface CatalogHit {
  _id: string;
  sort: (string | number)[]; // the cursor of the next page, if this hit is the page's last
  _source: {
    id: string;
    name: string;
    locations: { city: string; state: string }[];
    platform_type: string;
    health: { state: "ok" | "degraded" | "down" | "unknown" };
  };
}
