/**
 * The application's state as one value (docs/adr/0035-the-widget.md). The state alone determines the view. Only step.ts
 * changes the state, and the state uses no browser APIs.
 */
import type { Config, Connection, Mode } from "../../kit/protocol.ts";
import type { AttemptError, Failure, Hit, IdentityProvider, Institution, Standing } from "../api/records.ts";
import type { Draft, Effect, Filter, Message, Opened, Own, Start } from "./message.ts";

/**
 * The page's container: an element's frame, another client's frame (direct), a hosted page in redirect mode, or the
 * older element's popup window. watch is the older element's hidden frame, which shows nothing and polls that window's
 * attempt.
 */
export type Shell = "frame" | "direct" | "page" | "window" | "watch";

/** The views. In TEFCA mode, splash, institution and waiting belong to the identity check and have their own words. */
export type View =
  | "loading"
  | "splash"
  | "email"
  | "code"
  | "search"
  | "institution"
  | "waiting"
  | "stopping"
  | "locating"
  | "facilities"
  | "connecting"
  | "summary"
  | "connected"
  | "failed"
  | "finish"
  | "missing"
  | "support"
  | "config_error"
  | "closed";

/** The organisation, limited to the details that the page names. */
export interface Org {
  name: string;
  logo_uri: string;
  privacy_policy_uri: string;
  terms_uri: string;
  website_uri: string;
  accent: string;
  purpose: string; // in English, and empty if not set
  purpose_es: string; // in Spanish
}

export interface Search {
  query: string;
  filter: Filter;
  hits: Hit[];
  total: number | undefined; // undefined until the first response
  loading: boolean;
  more: boolean; // loading the next page
}

/** The target of an attempt. For a reconnect, only the connection may be known; in TEFCA mode, only the identity provider is known. */
export interface Target {
  name: string;
  reconnect?: string | undefined;
  endpointId?: string | undefined;
  portalId?: string | undefined;
  brandId?: string | undefined;
  platformType?: string | undefined;
  identityProvider?: string | undefined; // the provider's ID; the target's name is the provider's name
}

/** One attempt. Times are in milliseconds since 1970. */
export interface Attempt {
  id: string;
  token: string;
  start: Start;
  target: Target;
  madeAt: number; // time by the browser's clock, which may be wrong
  leftAt: number | undefined; // when the attempt's window was opened
  status: "created" | "open";
  how: Opened | undefined; // the browser's reaction to the click; undefined before the click
  closed: boolean; // the window reported that it closed; a portal can falsify the report
  pending: boolean; // patient.connection_pending was emitted
  asking: boolean;
  again: boolean; // poll again after the current poll
  misses: number; // failed polls in a row
  cookieless?: true; // the browser blocks cookies in the attempt's window
  cancelling: boolean; // the patient cancelled the attempt, and the server hasn't yet confirmed the cancellation
}

/** Describes why the last sign-in failed. */
export interface Ending {
  cause: string; // a cause of docs/openapi.yaml, or expired, lost, refused, unavailable
  target: Target;
  error?: AttemptError | undefined;
  requestId?: string | undefined;
}

export interface Connected {
  name: string;
  initials?: string | undefined; // the patient's, if the portal provided the name; never told to the page
  connection: Connection;
}

export interface Verification {
  id: string;
  resendAt: number;
}

/** State of TEFCA mode. */
export interface Tefca {
  providers: IdentityProvider[] | undefined; // undefined until the server responded
  simulated: boolean;
  standing: Standing | undefined; // status of the current attempt, after the identity check
  since: number; // start of that status, in milliseconds since 1970
  ticked: string[]; // directory IDs of the chosen facilities
  told: string[]; // directory IDs of reported connections
}

/** The current view's error, and the message that retries the failed action. */
export interface Trouble {
  failure: Failure;
  retry: Message | undefined; // undefined if the patient must change the input first
}

export interface State {
  shell: Shell;
  mode: Mode;
  publicId: string;
  baseUrl: string;
  org: Org | undefined;
  redirectUri: string | undefined; // only in redirect mode
  own: Own | undefined;
  config: Config;
  configError: { reason: string; requestId: string | undefined } | undefined; // the page's misconfiguration
  view: View;
  from: View; // the view to which support and missing return
  email: string; // the address of the last code or form
  proof: { token: string; until: number } | undefined; // the email proof and its expiry, by this browser's clock
  verification: Verification | undefined;
  canResend: boolean;
  search: Search;
  institution: Institution | undefined;
  portalId: string | undefined; // the chosen portal
  target: Target | undefined;
  attempts: Attempt[];
  current: string | undefined; // the current view's attempt
  busy: boolean; // waiting for a response
  tefca: Tefca | undefined; // undefined outside TEFCA mode
  reopening: boolean; // a window was requested while the attempt is being created
  ending: Ending | undefined;
  connected: Connected[];
  earlier: Connected[]; // connections that an earlier visit in this tab reported
  latest: Connected | undefined;
  draft: Draft;
  judged: number; // the number of submissions with errors
  sent: boolean; // the form was accepted
  trouble: Trouble | undefined;
  copied: boolean; // the reference was copied
  online: boolean;
  focused: boolean;
  leaving: boolean; // asking the patient whether to close
  told: boolean; // widget.complete was emitted
  slow: boolean; // the response to the current request is late
  kept: { owner: string; text: string | null } | undefined; // content of this tab's storage at the start (keeping.ts); undefined if the browser provides no storage
  rest: View | undefined; // the view that was closed
}

/** The next state, and the effects to perform. */
export type Next = [State, ...Effect[]];

export function start(
  given: Pick<State, "shell" | "mode" | "publicId" | "baseUrl" | "org" | "redirectUri" | "own">,
  config: Config,
): State {
  return {
    ...given,
    config,
    configError: undefined,
    view: "loading",
    from: "search",
    email: "",
    proof: undefined,
    verification: undefined,
    canResend: false,
    search: { query: "", filter: { state: "", zip: "" }, hits: [], total: undefined, loading: false, more: false },
    institution: undefined,
    portalId: undefined,
    target: undefined,
    attempts: [],
    current: undefined,
    busy: false,
    tefca: undefined,
    reopening: false,
    ending: undefined,
    connected: [],
    earlier: [],
    latest: undefined,
    draft: {
      email: config.email ?? "",
      code: "",
      hospital: "",
      name: "",
      website: "",
      address: "",
      subject: "",
      body: "",
    },
    judged: 0,
    sent: false,
    trouble: undefined,
    copied: false,
    online: true,
    focused: true,
    leaving: false,
    told: false,
    slow: false,
    kept: undefined,
    rest: undefined,
  };
}
