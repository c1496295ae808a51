/** Texts for audit log entries: labels of actions, objects and settings, and descriptions of changes. */
import type { AuditChange } from "../api/records.ts";

const ACTIONS: Record<string, string> = {
  "account.address_changed": "Changed their email address",
  "account.address_restored": "Restored their email address",
  "account.generator_added": "Added an authenticator app",
  "account.generator_removed": "Removed the authenticator app",
  "account.passkey_added": "Added a passkey",
  "account.passkey_removed": "Removed a passkey",
  "account.recovered": "Recovered the account",
  "account.recovery_begun": "Started an account recovery",
  "account.recovery_code_used": "Used a recovery code",
  "account.recovery_codes_made": "Created recovery codes",
  "account.recovery_stopped": "Cancelled an account recovery",
  "account.signed_out_everywhere": "Signed out everywhere",
  "client.created": "Created a client",
  "client.origins_set": "Changed a client’s origins",
  "client.removed": "Deleted a client",
  "client.rotated": "Rotated a client secret",
  "connection.disconnected": "Disconnected a connection",
  "connection.erased": "Erased a connection",
  "connection.erasure_requested": "Requested a connection’s erasure",
  "connection.tokens_lost": "Ended a connection without tokens",
  "credential.changed": "Changed a credential",
  "credential.created": "Created a credential",
  "credential.removed": "Removed a credential",
  "delivery.replayed": "Replayed a delivery",
  "inquiry.answered": "Replied to a request",
  "inquiry.moved": "Changed a request’s status",
  "invitation.withdrawn": "Withdrew an invitation",
  "key.created": "Created a private key",
  "key.revoked": "Revoked a private key",
  "live_access.approved": "Approved live mode",
  "live_access.refused": "Refused live mode",
  "live_access.requested": "Requested live mode",
  "live_access.withdrawn": "Withdrew live mode",
  "member.invited": "Invited a member",
  "member.joined": "Joined the organisation",
  "member.made_admin": "Changed a role to admin",
  "member.made_developer": "Changed a role to developer",
  "member.made_owner": "Changed a role to owner",
  "member.made_viewer": "Changed a role to viewer",
  "member.removed": "Removed a member",
  "organisation.changed": "Changed the organisation",
  "organisation.created": "Created the organisation",
  "organisation.deleted": "Deleted the organisation",
  "organisation.deletion_cancelled": "Cancelled the organisation’s deletion",
  "organisation.deletion_requested": "Requested the organisation’s deletion",
  "organisation.email_code_sent": "Sent a code to a notice address",
  "organisation.email_verified": "Verified a notice address",
  "organisation.emails_changed": "Changed the notice addresses",
  "organisation.removed": "Removed the organisation",
  "organisation.resumed": "Reactivated the organisation",
  "organisation.suspended": "Suspended the organisation",
  "registration.removed": "Deleted a client registration",
  "registration.set": "Set a client registration",
  "tokens.restored": "Restored a connection’s tokens",
  "webhook.changed": "Changed a webhook",
  "webhook.created": "Created a webhook",
  "webhook.disabled": "Disabled a webhook",
  "webhook.enabled": "Enabled a webhook",
  "webhook.moved": "Changed a webhook’s URL",
  "webhook.removed": "Removed a webhook",
  "webhook.replayed": "Replayed a webhook’s deliveries",
  "webhook.rotated": "Rotated a webhook’s secret",
  "webhook.secret_revealed": "Revealed a webhook’s secret",
  "webhook.simulated": "Simulated an event",
  "webhook.tested": "Sent a test event",
  "webhook.types_changed": "Changed a webhook’s event types",
};

/** The values of the action filter. Each value is the beginning of the actions on one kind of object. */
export const OBJECTS = [
  ["", "any"],
  ["account.", "Accounts"],
  ["client.", "Clients"],
  ["connection.", "Connections"],
  ["credential.", "Credentials"],
  ["delivery.", "Deliveries"],
  ["inquiry.", "Inbox"],
  ["invitation.", "Invitations"],
  ["live_access.", "Live mode"],
  ["member.", "Members"],
  ["organisation.", "Organisation"],
  ["key.", "Private keys"],
  ["registration.", "Registrations"],
  ["webhook.", "Webhooks"],
] as const;

const FIELDS: Record<string, string> = {
  accent: "Accent colour",
  allowed_origins: "Allowed origin",
  color_scheme: "Colour scheme",
  font: "Font",
  header_values: "Header values",
  headers: "Header",
  live_access: "Live mode",
  logo: "Logo",
  name: "Name",
  note: "Note",
  notice_addresses: "Notice addresses",
  plan: "Plan",
  privacy_policy_uri: "Privacy policy",
  purpose: "Purpose in English",
  purpose_es: "Purpose in Spanish",
  radius: "Corner radius",
  rate: "Attempts per second",
  redirect_uris: "Redirect URI",
  role: "Role",
  signing_key: "Signing key",
  status: "Status",
  terms_uri: "Terms",
  types: "Event type",
  url: "URL",
  url_query: "Query string",
  website_uri: "Website",
};

/** The fields of lists. Each of their changes adds or removes one item. */
const LISTS = ["allowed_origins", "headers", "redirect_uris", "types"];

/** The fields whose empty value is a default. */
const DEFAULTED = ["color_scheme", "font", "radius", "rate"];

/** Returns an action's label. Actions without a label are returned unchanged. */
export const actionOf = (action: string): string => ACTIONS[action] ?? action;

/** Describes a change as the setting's name and its old and new value. */
export function describe({ field, old, new: now }: AuditChange): { name: string; text: string } {
  if (field === "more") return { name: "Not shown", text: `${now} more changes` };
  const name = FIELDS[field] ?? field;
  if (LISTS.includes(field)) return { name, text: old === "" ? `added ${now}` : `removed ${old}` };
  if (old === "hidden" && now === "hidden") return { name, text: "replaced" };
  const empty = DEFAULTED.includes(field) ? "default" : "none";
  return { name, text: `${old || empty} → ${now || empty}` };
}
