/** The application as one pure function. The function maps the state and a message to the next state and effects. */
import type { Config } from "../../kit/protocol.ts";
import type { Answered, Failure } from "../api/records.ts";
import * as attempting from "./attempting.ts";
import * as choosing from "./choosing.ts";
import * as events from "./events.ts";
import * as forms from "./forms.ts";
import { keptIn, restore, resumed, type Kept } from "./keeping.ts";
import type { Effect, Message } from "./message.ts";
import { stopping } from "./schedule.ts";
import * as searching from "./searching.ts";
import type { Next, State, View } from "./state.ts";
import * as watching from "./watching.ts";

/** Returns the next state and effects. now is in milliseconds since 1970. */
export function step(s: State, m: Message, now: number): Next {
  switch (m.type) {
    case "answered":
      return answered(s, m.answered, now);
    case "begin":
      return begin(s, m, now);
    case "misconfigured":
      return misconfigured(s, m.reason, m.requestId);
    case "type":
      return searching.type(s, m.query);
    case "narrow":
      return searching.narrow(s, m.filter);
    case "search":
      return searching.search(s);
    case "more":
      return searching.more(s);
    case "pick":
      return isUnproven(s, now) ? toEmail(s) : choosing.pick(s, m.id);
    case "portal":
      return choosing.choose(s, m.id);
    case "load":
      return choosing.load(s);
    case "email":
      return forms.submitEmail(s);
    case "code":
      return forms.checkCode(s);
    case "resend":
      return forms.sendCode(s, s.email);
    case "resendable":
      return [{ ...s, canResend: true }];
    case "copy":
      return [s, { do: "copy", text: m.text }];
    case "copied":
      return [{ ...s, copied: true }];
    case "draft":
      return [{ ...s, draft: { ...s.draft, ...m.draft } }];
    case "send":
      return forms.send(s, now);
    case "slow":
      return [s.busy ? { ...s, slow: true } : s];
    case "unloaded":
      return [{ ...s, trouble: { failure: unreached, retry: { type: "reload" } } }];
    case "reload":
      return [s, { do: "reload" }];
    default:
      return steer(s, m, now);
  }
}

/** Handles the remaining messages: attempts, windows and navigation. */
function steer(s: State, m: Message, now: number): Next {
  switch (m.type) {
    case "prepare":
      return attempting.prepare({ ...s, view: "institution" });
    case "stale":
      return attempting.stale(s, m.id);
    case "leave":
      return attempting.leave(s, now);
    case "opened":
      return [attempting.withAttempt(s, m.id, { how: m.how, closed: false })];
    case "raised":
      return s.focused && s.current === m.id ? attempting.windows(s, [m.id], true) : [s];
    case "cookieless":
      return [attempting.withAttempt(s, m.id, { cookieless: true })];
    case "followed":
      return attempting.followed(s);
    case "unopened":
      return attempting.isUnopened(s, m.id)
        ? misconfigured(
            { ...s, current: undefined },
            "This page can't open windows. A sandboxed frame needs allow-popups and allow-forms.",
            undefined,
          )
        : [s];
    case "here":
      return watching.here(s, m.attemptId, m.made, now);
    case "raise":
      return attempting.raise(s, now);
    case "poll":
      return attempting.inquire(s, m.id);
    case "wake":
      return attempting.inquireAll(s);
    case "windows":
      return attempting.windows(s, m.closed, m.focused);
    case "cancel":
      return attempting.abandon(s);
    case "network":
      return network(s, m.online);
    case "agree":
      return afterSplash(s, now);
    case "show":
      return show(s, m.view, now);
    case "back":
      return back(s);
    case "restart":
      return isUnproven(s, now) ? toEmail(forgetQuery(s)) : toSearch(forgetQuery(s));
    case "retry":
      return s.trouble?.retry ? [s, ...retry(s)] : [{ ...s, trouble: undefined }];
    case "close":
      return (attempting.underWay(s) || wouldLose(s)) && !s.leaving ? [{ ...s, leaving: true }] : closeNow(s);
    case "stay":
      return [{ ...s, leaving: false }];
    case "close_now":
      return attempting.underWay(s) ? stop(s) : closeNow(s);
    case "stopped":
      return s.view === "stopping" ? closeNow(s) : [s];
    default:
      return [s];
  }
}

const unreached: Failure = {
  kind: "network",
  error: "",
  description: "",
  cause: undefined,
  requestId: undefined,
  retryAfter: undefined,
};

function answered(s: State, a: Answered, now: number): Next {
  if (!a.answer.ok && a.answer.failure.kind === "foreign" && a.call !== "progress")
    return misconfigured(s, a.answer.failure.description, a.answer.failure.requestId);
  switch (a.call) {
    case "search":
      return searching.found(s, a.answer, a.ask.after !== undefined, now);
    case "institution":
      return choosing.loaded(s, a.answer);
    case "endpoint":
      return choosing.endpointFound(s, a.answer);
    case "prepare":
      return attempting.prepared(s, a.answer, now);
    case "progress":
      return attempting.progressed(s, a.ask.id, a.answer, now);
    case "cancel":
      return stopped(attempting.progressed(s, a.ask.id, a.answer, now));
    case "codes":
      return forms.codeSent(s, a.answer, now);
    case "verify":
      if (a.answer.ok) return afterEmail(forms.proven(s, a.answer.data, now));
      return [{ ...s, busy: false, trouble: { failure: a.answer.failure, retry: undefined } }];
    case "support":
    case "missing":
      return forms.sent(s, a.answer);
    default:
      return [s];
  }
}

function begin(s: State, { config, own, watch, kept }: Message & { type: "begin" }, now: number): Next {
  const filter = { state: "", zip: zipOf(config) };
  const search = { ...s.search, query: config.searchQuery ?? "", filter };
  const next: State = { ...s, config, own, kept, draft: { ...s.draft, email: config.email ?? "" }, search };
  if (watch) return watching.watch(next, watch, now);
  if (config.tefcaMode) return [next, { do: "load" }];
  const earlier = kept && keptIn(kept, now);
  if (earlier) return resume(next, earlier, now);
  return config.showSplash ? [{ ...next, view: "splash" }] : afterSplash(next, now);
}

/** Continues an earlier visit in this tab. */
function resume(s: State, kept: Kept, now: number): Next {
  const { next, effects, view } = restore(s, kept, now);
  const proven = (then: (s: State) => Next) => (state: State) =>
    isUnproven(state, now) ? toEmail(state) : then(state);
  const institution = (state: State): Next =>
    state.target ? attempting.prepare({ ...state, view: "institution" }) : [{ ...state, view: "institution" }];
  return resumed(next, view, effects, {
    start: (state) => afterSplash(state, now),
    email: toEmail,
    search: proven(toSearch),
    institution: proven(institution),
  });
}

/** Decodes search-sort-by-opts, which is JSON in base64url. An unreadable value is ignored. */
function zipOf(config: Config): string {
  if (config.searchSortBy !== "location" || !config.searchSortByOpts) return "";
  try {
    const text = atob(config.searchSortByOpts.replaceAll("-", "+").replaceAll("_", "/"));
    const found: unknown = JSON.parse(text);
    const [zip] = (found as { locationZipcodes?: unknown[] }).locationZipcodes ?? [];
    return typeof zip === "string" && /^\d{5}/.test(zip) ? zip.slice(0, 5) : "";
  } catch {
    return "";
  }
}

function afterSplash(s: State, now: number): Next {
  const { reconnectOrgConnectionId } = s.config;
  if (reconnectOrgConnectionId) return choosing.reconnect(s, reconnectOrgConnectionId);
  return isUnproven(s, now) ? toEmail(s) : afterEmail(s);
}

/** Reports whether the email step is due. The step repeats after an hour, because someone else may then be using the device. */
export function isUnproven({ config, ...s }: State, now: number): boolean {
  return (
    !config.searchOnly && (config.tefcaMode || !config.reconnectOrgConnectionId) && forms.proofOf(s, now) === undefined
  );
}

export function toEmail(s: State): Next {
  return [
    { ...attempting.forgetUnused(s), view: "email", proof: undefined, busy: false, judged: 0, trouble: undefined },
  ];
}

function afterEmail(s: State): Next {
  const { brandId, portalId, endpointId } = s.config;
  return brandId || portalId || endpointId ? choosing.load(s) : toSearch(s);
}

function toSearch(s: State): Next {
  const next: State = {
    ...attempting.forgetUnused(s),
    view: "search",
    target: undefined,
    institution: undefined,
    ending: undefined,
    trouble: undefined,
    busy: false,
  };
  const [state, ...effects] = s.search.total === undefined ? searching.search(next) : ([next] as Next);
  return [
    state,
    { do: "drop", key: "prepare" },
    { do: "drop", key: "institution" },
    { do: "drop", key: "endpoint" },
    ...effects,
  ];
}

/** Clears the query after a connection, because the next search is for another institution. */
function forgetQuery(s: State): State {
  if (s.view !== "connected" && s.view !== "finish") return s;
  return { ...s, search: { ...s.search, query: "", hits: [], total: undefined, loading: false, more: false } };
}

export function misconfigured(s: State, reason: string, requestId: string | undefined): Next {
  const next: State = {
    ...s,
    view: "config_error",
    configError: { reason, requestId },
    busy: false,
    trouble: undefined,
  };
  return s.view === "config_error" ? [next] : [next, events.configError(s, reason)];
}

/** Shows a view. Support and missing return to the view that opened them. */
function show(s: State, view: "support" | "missing" | "search" | "finish", now: number): Next {
  if (view === "search") return isUnproven(s, now) ? toEmail(s) : toSearch(s);
  if (view === s.view) return [s];
  const from = s.view === "support" || s.view === "missing" ? s.from : s.view;
  const draft = { ...s.draft, hospital: s.draft.hospital || s.search.query.trim() };
  return [
    { ...s, view, from, sent: false, judged: 0, busy: false, trouble: undefined, draft },
    { do: "drop", key: "form" },
  ];
}

/** Returns the view behind the current one, or undefined. */
export function behind(s: State): View | undefined {
  switch (s.view) {
    case "code":
      return "email";
    case "institution":
    case "failed":
      return s.config.reconnectOrgConnectionId ? undefined : "search";
    case "waiting":
      return "institution";
    case "support":
    case "missing":
      return s.from;
    case "finish":
      return "search";
    default:
      return undefined;
  }
}

function back(s: State): Next {
  const to = behind(s);
  if (to === undefined) return [s];
  if (to === "search" && s.view !== "missing" && s.view !== "support") return toSearch(s);
  if (s.view === "waiting") return attempting.abandon(s);
  const next: State = { ...s, view: to, sent: false, judged: 0, busy: false, trouble: undefined };
  return to === "institution" ? prepareAgain(next) : [next, { do: "drop", key: "form" }];
}

/** Prepares an attempt again. An attempt that was being created when the patient left the view may now be ready or stale. */
function prepareAgain(s: State): Next {
  return s.current || !s.target ? [s] : attempting.prepare(s);
}

/** Handles a change of the network. When the network returns, retries the action that failed. */
function network(s: State, online: boolean): Next {
  const next: State = { ...s, online };
  if (!online) return [next];
  const [state, ...effects] = attempting.inquireAll(next);
  return [state, ...effects, ...(state.trouble?.failure.kind === "network" ? retry(state) : [])];
}

function retry({ trouble }: State): Effect[] {
  return trouble?.retry ? [{ do: "send", message: trouble.retry }] : [];
}

/** Reports whether closing would lose the patient's input, because the browser provides no storage. */
export function wouldLose(s: State): boolean {
  const { email, proof, draft, verification, kept } = s;
  if (kept || s.told || ["connected", "finish", "failed", "config_error"].includes(s.view)) return false;
  return (
    proof !== undefined ||
    (verification !== undefined && email !== "") ||
    [draft.body, draft.hospital, draft.subject].some((text) => text.trim() !== "")
  );
}

/**
 * Closes the widget after the server has confirmed that the open sign-in is cancelled. If the patient finished first,
 * the outcome is shown.
 */
function stop(s: State): Next {
  const [cancelled, ...effects] = attempting.cancel(s);
  return [
    { ...cancelled, view: "stopping", leaving: false },
    ...effects,
    { do: "wait", key: "stop", ms: stopping, then: { type: "stopped" } },
  ];
}

function stopped([s, ...effects]: Next): Next {
  if (s.view !== "stopping" || s.attempts.some((a) => a.cancelling)) return [s, ...effects];
  const [closed, ...more] = closeNow(s);
  return [closed, ...effects, ...more];
}

/** Views to which a reopened page doesn't return. */
const over: View[] = ["connected", "finish", "summary", "failed", "stopping", "closed"];

function closeNow(s: State): Next {
  const [left, ...cancelled] = attempting.cancel(s);
  const view = s.view;
  const rest = over.includes(view) ? undefined : view;
  const next: State = { ...left, view: "closed", leaving: false, told: true, rest: view === "closed" ? s.rest : rest };
  if (s.told) return [next, ...cancelled, { do: "closed" }];
  return [next, ...cancelled, ...events.exited(s, view), events.complete(s), { do: "closed" }];
}
