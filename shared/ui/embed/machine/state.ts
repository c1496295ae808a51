/**
 * Everything that the application knows, as one value (docs/adr/0035-the-widget.md). What the patient sees follows from it alone; it
 * changes in step.ts alone; nothing here knows a browser.
 */
import type { Config, Connection, Mode } from "../../kit/protocol.ts";
import type { AttemptError, Failure, Hit, IdentityProvider, Institution, Standing } from "../api/records.ts";
import type { Draft, Effect, Filter, Message, Opened, Own, Start } from "./message.ts";

/**
 * How the page is held: in an element's frame, in the frame of another client of the same contract (direct), as a whole page of redirect mode, or in the window of the older element's popup mode.
 * watch is the older element's hidden frame, which shows nothing and follows the attempt of that window.
 */
export type Shell = "frame" | "direct" | "page" | "window" | "watch";

/** In TEFCA mode splash, institution and waiting are of the identity check, and have words of their own. */
export type View =
  | "loading"
  | "splash"
  | "email"
  | "code"
  | "search"
  | "institution"
  | "waiting"
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

/** Who asks for the records, as far as the page tells it. */
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
  total: number | undefined; // undefined until the first answer
  loading: boolean;
  more: boolean; // the next page is being asked for
}

/** Where an attempt leads. Of a reconnect only the connection may be known, in TEFCA mode only the identity provider. */
export interface Target {
  name: string;
  reconnect?: string | undefined;
  endpointId?: string | undefined;
  portalId?: string | undefined;
  brandId?: string | undefined;
  platformType?: string | undefined;
  identityProvider?: string | undefined; // its id; its name is the target's
}

/** One attempt, as this page follows it. Times are in milliseconds since 1970. */
export interface Attempt {
  id: string;
  token: string;
  start: Start;
  target: Target;
  madeAt: number; // by this browser's clock, which may be wrong
  leftAt: number | undefined; // when a window was opened for it
  status: "created" | "open";
  how: Opened | undefined; // what the browser made of the click; undefined before it
  closed: boolean; // the window says so; a portal can make it lie
  pending: boolean; // patient.connection_pending was told
  asking: boolean;
  again: boolean; // ask once more as soon as the answer is here
  misses: number; // answers that did not come, in a row
}

/** Why the last sign-in came to nothing. */
export interface Ending {
  cause: string; // of docs/openapi.yaml, or expired, lost, refused, unavailable
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

/** What is known in TEFCA mode alone. */
export interface Tefca {
  providers: IdentityProvider[] | undefined; // undefined until the server has told
  simulated: boolean;
  standing: Standing | undefined; // of the current attempt, once an identity is proven
  since: number; // when its status began, milliseconds since 1970
  ticked: string[]; // directory ids of the facilities that the patient has chosen
  told: string[]; // directory ids of those whose connection was told
}

/** What went wrong in the view that is shown, and the message that tries it again. */
export interface Trouble {
  failure: Failure;
  retry: Message | undefined; // undefined where the patient's own words have to change first
}

export interface State {
  shell: Shell;
  mode: Mode;
  publicId: string;
  baseUrl: string;
  org: Org | undefined;
  redirectUri: string | undefined; // of redirect mode
  own: Own | undefined;
  config: Config;
  configError: { reason: string; requestId: string | undefined } | undefined; // the page's mistake
  view: View;
  from: View; // where support and missing return to
  email: string; // that a code was sent to, or that a form was sent with
  proof: { token: string; until: number } | undefined; // that the address is the patient's; until when, by this browser's clock
  verification: Verification | undefined;
  canResend: boolean;
  search: Search;
  institution: Institution | undefined;
  portalId: string | undefined; // which of the institution's portals was chosen
  target: Target | undefined;
  attempts: Attempt[];
  current: string | undefined; // the attempt of the view
  busy: boolean; // the view waits for an answer before it can go on
  tefca: Tefca | undefined; // undefined outside of TEFCA mode
  reopening: boolean; // the patient has asked for a window whose attempt is being made
  ending: Ending | undefined;
  connected: Connected[];
  latest: Connected | undefined;
  draft: Draft;
  judged: number; // how often the form of the view was sent with something wrong in it
  sent: boolean; // the form of the view has arrived
  trouble: Trouble | undefined;
  copied: boolean; // the reference is on the clipboard
  online: boolean;
  focused: boolean;
  leaving: boolean; // the patient is asked whether to close with a sign-in under way
  told: boolean; // widget.complete was told
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
  };
}
