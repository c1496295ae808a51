/**
 * The application's state as one value (docs/adr/0035-the-widget.md). It alone determines the view, only step.ts
 * changes it, and it uses no browser APIs.
 */
import type { Config, Connection, Mode } from "../../kit/protocol.ts";
import type { AttemptError, Failure, Hit, IdentityProvider, Institution, Standing } from "../api/records.ts";
import type { Draft, Effect, Filter, Message, Opened, Own, Start } from "./message.ts";

/**
 * How the page is held: in an element's frame, in another client's frame (direct), as a hosted page in redirect mode,
 * or in the older element's popup window. watch is the older element's hidden frame, which shows nothing and polls that
 * window's attempt.
 */
export type Shell = "frame" | "direct" | "page" | "window" | "watch";

/** In TEFCA mode splash, institution and waiting belong to the identity check and have their own words. */
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

/** The organisation, as far as the page names it. */
export interface Org {
  name: string;
  logo_uri: string;
  privacy_policy_uri: string;
  terms_uri: string;
  website_uri: string;
  accent: string;
}

export interface Search {
  query: string;
  filter: Filter;
  hits: Hit[];
  total: number | undefined; // undefined until the first response
  loading: boolean;
  more: boolean; // loading the next page
}

/** Where an attempt leads. For a reconnect only the connection may be known, in TEFCA mode only the identity provider. */
export interface Target {
  name: string;
  reconnect?: string | undefined;
  endpointId?: string | undefined;
  portalId?: string | undefined;
  brandId?: string | undefined;
  platformType?: string | undefined;
  identityProvider?: string | undefined; // the provider's ID; its name is the target's
}

/** One attempt. Times are in milliseconds since 1970. */
export interface Attempt {
  id: string;
  token: string;
  start: Start;
  target: Target;
  madeAt: number; // by the browser's clock, which may be wrong
  leftAt: number | undefined; // when its window was opened
  status: "created" | "open";
  how: Opened | undefined; // the browser's reaction to the click; undefined before it
  closed: boolean; // reported by the window; a portal can falsify it
  pending: boolean; // patient.connection_pending was emitted
  asking: boolean;
  again: boolean; // poll again after the current one
  misses: number; // failed polls in a row
  cancelling: boolean; // the patient cancelled it, and the server hasn't confirmed that yet
}

/** Why the last sign-in failed. */
export interface Ending {
  cause: string; // a cause of docs/openapi.yaml, or expired, lost, refused, unavailable
  target: Target;
  error?: AttemptError | undefined;
  requestId?: string | undefined;
}

export interface Connected {
  name: string;
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
  standing: Standing | undefined; // of the current attempt, after the identity check
  since: number; // start of its status, milliseconds since 1970
  ticked: string[]; // directory IDs of the chosen facilities
  told: string[]; // directory IDs of reported connections
}

/** The error of the current view, and the message that retries it. */
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
  redirectUri: string | undefined; // in redirect mode
  own: Own | undefined;
  config: Config;
  configError: { reason: string; requestId: string | undefined } | undefined; // the page's misconfiguration
  view: View;
  from: View; // where support and missing return
  email: string; // the address of the last code or form
  proof: { token: string; until: number } | undefined; // the email proof and its expiry, by this browser's clock
  verification: Verification | undefined;
  canResend: boolean;
  search: Search;
  institution: Institution | undefined;
  portalId: string | undefined; // the chosen portal
  target: Target | undefined;
  attempts: Attempt[];
  current: string | undefined; // the view's attempt
  busy: boolean; // waiting for a response
  tefca: Tefca | undefined; // undefined outside TEFCA mode
  reopening: boolean; // a window was requested while its attempt is being created
  ending: Ending | undefined;
  connected: Connected[];
  earlier: Connected[]; // reported by an earlier visit in this tab
  latest: Connected | undefined;
  draft: Draft;
  judged: number; // the number of submissions with errors
  sent: boolean; // the form was accepted
  trouble: Trouble | undefined;
  copied: boolean; // the reference was copied
  online: boolean;
  focused: boolean;
  leaving: boolean; // asking whether to close
  told: boolean; // widget.complete was emitted
  slow: boolean; // the response to the current request is late
  kept: { owner: string; text: string | null } | undefined; // what this tab's storage held at the start (keeping.ts); undefined if the browser keeps nothing
  rest: View | undefined; // the view that was closed
}

/** The next state, followed by the effects to perform. */
export type Next = [State, ...Effect[]];

export function start(given: Pick<State, "shell" | "mode" | "publicId" | "baseUrl" | "org" | "redirectUri" | "own">, config: Config): State {
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
    draft: { email: config.email ?? "", code: "", hospital: "", name: "", website: "", address: "", subject: "", body: "" },
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
