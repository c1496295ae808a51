/** Types of the service's responses (docs/openapi.yaml), limited to the fields that the application reads. The file contains only types. */
import type { Connection } from "../../kit/protocol.ts";

export type Health = "ok" | "degraded" | "down" | "unknown";

export interface Location {
  city: string;
  state: string;
}

export interface Portal {
  id: string;
  name: string;
  portal_website: string;
  logo_uri: string;
  description: string;
  endpoint_ids: string[];
  hosts?: string[]; // server hosts, if they distinguish portals or institutions
  choice?: string; // shared by portals that patients can't tell apart
  owners?: Record<string, string>; // portal IDs by endpoint ID, if the portal stands for several (catalog.ts)
}

/** An institution from a search result, or from a brand, portal or endpoint ID. */
export interface Institution {
  id: string; // empty if only a portal or an endpoint is known
  name: string;
  logo: string;
  website: string;
  description: string;
  locations: Location[];
  health: Health;
  platformType: string | undefined;
  portals: Portal[];
  endpointId: string | undefined; // if only this endpoint was requested
}

export interface Hit extends Institution {
  mostUsed: boolean; // one of the institutions that the organisation's patients use most
  away: number | undefined; // kilometres from the ZIP code, if both are known
  sort: (string | number)[];
}

export interface Hits {
  total: number;
  hits: Hit[];
}

export interface Endpoint {
  id: string;
  health: Health;
  platformType: string;
}

export interface PreparedAttempt {
  attempt_id: string;
  attempt_token: string;
  connect_url: string;
  start_value: string;
  endpoint_id?: string;
  portal_id?: string;
  brand_id?: string;
}

export interface AttemptError {
  error: string;
  error_description: string;
  request_id: string;
  cause: string;
  suggested_action: string;
  platform_type?: string; // if the endpoint is known
}

export interface Progress {
  status: "created" | "open" | "done" | "failed" | "expired";
  result?: Connection;
  patient_initials?: string; // if done and known
  error?: AttemptError;
}

/** An identity provider of TEFCA mode. */
export interface IdentityProvider {
  id: string;
  name: string;
}

export interface PreparedIdentity {
  attempt_id: string;
  attempt_token: string;
  identity_url: string;
  start_value: string;
}

/** An organisation in the network, with its match and its connection. */
export interface Facility {
  tefca_directory_id: string;
  name: string;
  city: string;
  state: string; // two letters
  match: "found" | "ambiguous" | "unanswered"; // only found facilities can be connected
  outcome?: "connecting" | "connected" | "failed";
  reason?:
    "refused" | "unavailable" | "too_large" | "invalid_content" | "other_person" | "identity_expired" | "internal"; // if failed
  connection?: Connection; // if connected
}

/** A TEFCA attempt's status. */
export interface Standing {
  status: "created" | "open" | "locating" | "located" | "authorizing" | "failed" | "expired";
  identity_expires_at?: string; // absent after the network can no longer be queried
  facilities: Facility[];
  error?: AttemptError;
}

/** Describes why a call failed. */
export interface Failure {
  /**
   * network: no response arrived; limited: too many requests; refused: the request is invalid; foreign: the public ID
   * is unknown; lost: the requested object does not exist; taken: the object already exists; unavailable: try again
   * later.
   */
  kind: "network" | "limited" | "refused" | "taken" | "foreign" | "lost" | "unavailable";
  error: string;
  description: string;
  cause: string | undefined; // a cause of docs/openapi.yaml, which names whose failure it is
  requestId: string | undefined;
  retryAfter: number | undefined; // milliseconds
}

export type Answer<T> = { ok: true; data: T } | { ok: false; failure: Failure };

/** The patient's details in a form, with the proof of the patient's email address. */
interface Asker {
  email: string;
  email_token?: string | undefined;
}

/** Every call of the application, with the call's parameters and result. */
export interface Calls {
  search: {
    ask: { query: string; state: string; zip: string; after?: (string | number)[] | undefined };
    data: Hits;
  };
  institution: {
    ask: { brandId?: string | undefined; portalId?: string | undefined; endpointId?: string | undefined };
    data: Institution;
  };
  endpoint: { ask: { ids: string[] }; data: Endpoint };
  prepare: {
    ask: {
      endpoint_id?: string | undefined;
      portal_id?: string | undefined;
      brand_id?: string | undefined;
      reconnect_org_connection_id?: string | undefined;
      external_id?: string | undefined;
      external_state?: string | undefined;
      request_id?: string | undefined;
      attempt_id?: string | undefined;
      token_hash?: string | undefined;
    };
    data: PreparedAttempt;
  };
  progress: { ask: { id: string; token: string }; data: Progress };
  /** Ends an attempt. The response's data is the attempt's status, which may contain a result that arrived first. */
  cancel: { ask: { id: string; token: string }; data: Progress };
  providers: { ask: object; data: { providers: IdentityProvider[]; simulated: boolean } };
  identity: {
    ask: {
      provider: string;
      external_id?: string | undefined;
      external_state?: string | undefined;
      request_id?: string | undefined;
    };
    data: PreparedIdentity;
  };
  records: { ask: { id: string; token: string }; data: Standing };
  authorize: { ask: { id: string; token: string; ids: string[] }; data: Standing };
  codes: { ask: { email: string }; data: { verification_id: string; resend_after: string } };
  verify: { ask: { verification_id: string; code: string }; data: { email_token: string; expires_at: string } };
  support: {
    ask: Asker & { name: string; subject: string; body: string; health_system?: string | undefined };
    data: undefined;
  };
  missing: {
    ask: Asker & { name: string; website?: string | undefined; street_address?: string | undefined };
    data: undefined;
  };
}

export type CallName = keyof Calls;

/** A call without an answer, and a call together with its answer. */
export type Ask = { [K in CallName]: { call: K; ask: Calls[K]["ask"] } }[CallName];
export type Answered = {
  [K in CallName]: { call: K; ask: Calls[K]["ask"]; answer: Answer<Calls[K]["data"]> };
}[CallName];
