/** Creates attempts, opens the portal and handles the result. Only the server's response ends an attempt. */
import type { Answer, AttemptError, Failure, PreparedAttempt, Progress } from "../api/records.ts";
import type { Connection } from "../../kit/protocol.ts";
import * as events from "./events.ts";
import type { Effect } from "./message.ts";
import { doubt, freshness, late, patience, pause, rise } from "./schedule.ts";
import type { Attempt, Next, State, Target, View } from "./state.ts";

export function currentAttempt(s: State): Attempt | undefined {
  return s.attempts.find((a) => a.id === s.current);
}

/** Reports whether the patient is viewing a sign-in in progress. */
export function underWay(s: State): boolean {
  return s.view === "waiting" && currentAttempt(s) !== undefined;
}

/** Removes an unused attempt. Opened attempts are still polled in every view. */
export function forgetUnused(s: State): State {
  return { ...s, attempts: s.attempts.filter((a) => a.leftAt !== undefined), current: undefined };
}

/**
 * Prepares an attempt. Redirect mode and standalone windows create the attempt only when the patient leaves, because
 * this window navigates.
 */
export function prepare(s: State): Next {
  const next: State = { ...forgetUnused(s), reopening: false, trouble: undefined, ending: undefined };
  if (!s.target || s.shell === "page" || s.shell === "window") return [{ ...next, busy: false }];
  return [
    { ...next, busy: true, slow: false },
    ask(s, s.target),
    { do: "wait", key: "slow", ms: late, then: { type: "slow" } },
  ];
}

function ask(s: State, target: Target): Effect {
  const given = {
    external_id: s.config.externalId,
    external_state: s.config.externalState,
    request_id: s.config.requestId,
  };
  if (target.identityProvider)
    return {
      do: "ask",
      key: "prepare",
      ask: { call: "identity", ask: { provider: target.identityProvider, ...given } },
    };
  return {
    do: "ask",
    key: "prepare",
    ask: {
      call: "prepare",
      ask: {
        endpoint_id: target.endpointId,
        portal_id: target.portalId,
        brand_id: target.brandId,
        reconnect_org_connection_id: target.reconnect,
        ...given,
        ...(s.shell === "window" && s.own ? { attempt_id: s.own.id, token_hash: s.own.hash } : {}),
      },
    },
  };
}

export function prepared(s: State, answer: Answer<PreparedAttempt>, now: number): Next {
  const target = s.target;
  if (!target) return [{ ...s, busy: false }];
  const isSpare = currentAttempt(s)?.leftAt !== undefined;
  if (!answer.ok)
    return isSpare ? unspared(s, target, answer.failure) : refused({ ...s, busy: false }, target, answer.failure);
  const made = answer.data;
  const start = { url: made.connect_url, value: made.start_value };
  if (s.shell === "window") return [s, { do: "leave", start }];
  const known: Target = { ...target, endpointId: made.endpoint_id, portalId: made.portal_id, brandId: made.brand_id };
  const attempt: Attempt = {
    ...{ id: made.attempt_id, token: made.attempt_token, start, target: known },
    ...{ madeAt: now, leftAt: undefined, status: "created" as const },
    ...{ how: undefined, closed: false, pending: false, asking: false, again: false, misses: 0, cancelling: false },
  };
  const next: State = {
    ...s,
    busy: false,
    target: known,
    current: isSpare ? s.current : attempt.id,
    attempts: [...s.attempts, attempt],
  };
  if (isSpare) return s.reopening ? open(next, attempt, now) : [next];
  const name: Effect[] = known.name
    ? []
    : [{ do: "ask", key: "institution", ask: { call: "institution", ask: { brandId: known.brandId } } }];
  return [next, { do: "wait", key: "stale", ms: freshness, then: { type: "stale", id: attempt.id } }, ...name];
}

/** Shows the failure only if the patient is waiting for the window. */
function unspared(s: State, target: Target, failure: Failure): Next {
  const next: State = { ...s, busy: false, reopening: false };
  return s.reopening ? refused({ ...forgetUnused(next), view: "institution" }, target, failure) : [next];
}

/** Handles a failed request. A temporary failure can be retried in the current view; every other failure has a view of its own. */
function refused(s: State, target: Target, failure: Failure): Next {
  if (failure.kind === "network" || failure.kind === "limited") {
    return [{ ...s, trouble: { failure, retry: { type: s.shell === "window" ? "leave" : "prepare" } } }];
  }
  const unknown = target.reconnect !== undefined && (failure.kind === "refused" || failure.kind === "lost");
  const ending = {
    cause: failure.cause ?? (unknown ? "connection_unknown" : failure.kind),
    target,
    requestId: failure.requestId,
  };
  const next: State = { ...arrive(s, "failed"), ending, copied: false };
  return [next, ...(unknown ? [events.configError(s, failure.description)] : events.failed(s, target, failure))];
}

export function stale(s: State, id: string): Next {
  return s.view === "institution" && s.current === id ? prepare(s) : [s];
}

/** Handles the click. The window must be opened synchronously; otherwise, the browser blocks the window. */
export function leave(s: State, now: number): Next {
  if (s.view !== "institution" || s.busy || !s.target) return [s];
  if (s.shell === "page") return [s, ...asPending(s, s.target), { do: "go", url: departure(s, s.target) }];
  if (s.shell === "window") return [{ ...s, busy: true, trouble: undefined }, ask(s, s.target)];
  const a = currentAttempt(s);
  return a && isFresh(a, now) ? open(s, a, now) : prepare(s);
}

function isFresh(a: Attempt, now: number): boolean {
  return now - a.madeAt <= freshness;
}

function open(s: State, { id, start }: Attempt, now: number): Next {
  const next = withAttempt(
    { ...s, view: "waiting", current: id, busy: false, reopening: false, trouble: undefined },
    id,
    { leftAt: now },
  );
  return [next, { do: "unwait", key: "stale" }, { do: "open", id, start }, poll(id, pause(0))];
}

/** Returns the pending event. A web view on the hosted page receives the same events as a frame's parent page. */
function asPending(s: State, target: Target): Effect[] {
  return [events.pending(s, { target })];
}

/** Returns the URL to which redirect mode navigates: connect or reconnect. Both endpoints validate all parameters again. */
function departure(s: State, target: Target): string {
  const query = new URLSearchParams();
  const members = {
    public_id: s.publicId,
    redirect_uri: s.redirectUri,
    external_id: s.config.externalId,
    external_state: s.config.externalState,
    ...(target.reconnect
      ? { reconnect_org_connection_id: target.reconnect }
      : {
          endpoint_id: target.endpointId,
          portal_id: target.portalId,
          brand_id: target.brandId,
          request_id: s.config.requestId,
        }),
  };
  for (const [name, value] of Object.entries(members)) if (value) query.set(name, value);
  return `${s.baseUrl}/bridge/${target.reconnect ? "reconnect" : "connect"}?${query}`;
}

export function withAttempt(s: State, id: string, change: Partial<Attempt>): State {
  return { ...s, attempts: s.attempts.map((a) => (a.id === id ? { ...a, ...change } : a)) };
}

export function poll(id: string, ms: number): Effect {
  return { do: "wait", key: `poll:${id}`, ms, then: { type: "poll", id } };
}

/** Polls an attempt. If a poll is in flight, schedules another poll. */
export function inquire(s: State, id: string): Next {
  const a = s.attempts.find((one) => one.id === id);
  if (!a || a.leftAt === undefined) return [s];
  if (a.asking) return [withAttempt(s, id, { again: true })];
  const question: Effect = a.cancelling
    ? { do: "ask", key: `cancel:${id}`, ask: { call: "cancel", ask: { id, token: a.token } } }
    : {
        do: "ask",
        key: `progress:${id}`,
        ask: { call: a.target.identityProvider ? "records" : "progress", ask: { id, token: a.token } },
      };
  return [withAttempt(s, id, { asking: true, again: false }), { do: "unwait", key: `poll:${id}` }, question];
}

export function inquireAll(s: State): Next {
  const effects: Effect[] = [];
  let state = s;
  for (const a of s.attempts) {
    const [next, ...wanted] = inquire(state, a.id);
    state = next;
    effects.push(...wanted);
  }
  return [state, ...effects];
}

/**
 * Ends the open sign-ins on the server and closes their windows. If the patient finished first, the response contains
 * the result, which is handled like any other result.
 */
export function cancel(s: State): Next {
  const effects: Effect[] = [];
  let state = s;
  const isOver = (a: Attempt): boolean =>
    a.leftAt === undefined || a.cancelling || (s.tefca?.standing !== undefined && a.id === s.current);
  for (const { id } of s.attempts.filter((a) => !isOver(a))) {
    const [next, ...asked] = inquire(withAttempt(state, id, { cancelling: true, asking: false, again: false }), id);
    state = next;
    effects.push({ do: "drop", key: `progress:${id}` }, { do: "shut", id }, ...asked);
  }
  return [state, ...effects];
}

/** Cancels the sign-in and returns to the institution, where the patient can start again. */
export function abandon(s: State): Next {
  const [cancelled, ...effects] = cancel(s);
  const [next, ...more] = prepare({ ...cancelled, view: "institution", leaving: false });
  return [next, ...effects, ...more];
}

/**
 * Reports whether the patient is back and no window can be shown. No window can be shown if the window has reported
 * that it closed, or the browser returned no handle.
 */
export function isGone(s: State, a: Attempt | undefined): boolean {
  return a !== undefined && s.focused && (a.how === "seen" ? a.closed : a.status === "open");
}

/**
 * Brings the portal's window to the front. A closed window's start value may be used up, so another window needs
 * another attempt. The attempt may already be prepared or be ready in time for this click; otherwise, the view shows a
 * link.
 */
export function raise(s: State, now: number): Next {
  const a = currentAttempt(s);
  if (!a) return [s];
  if (a.how === "seen" && !a.closed)
    return [s, { do: "raise", id: a.id }, { do: "wait", key: "raised", ms: rise, then: { type: "raised", id: a.id } }];
  const spare = s.attempts.find((one) => one.leftAt === undefined && isFresh(one, now));
  if (spare) return open(s, spare, now);
  return s.target && !s.busy ? [{ ...s, busy: true, reopening: true }, ask(s, s.target)] : [{ ...s, reopening: true }];
}

/**
 * Handles a window's report that it closed. The report ends nothing, but together with the patient's return it means
 * that the sign-in has begun.
 */
export function windows(s: State, closed: string[], focused: boolean): Next {
  const effects: Effect[] = [];
  let state: State = { ...s, focused };
  for (const a of s.attempts) {
    const gone = a.how === "seen" && closed.includes(a.id);
    if (gone && !a.closed) state = withAttempt(state, a.id, { closed: true });
    if (gone && focused && !a.cancelling) {
      const [next, ...told] = tellPending(state, a.id);
      state = next;
      effects.push(...told);
    }
  }
  const wantsSpare =
    s.target && s.view === "waiting" && isGone(state, currentAttempt(state)) && !isGone(s, currentAttempt(s));
  const hasSpare = s.busy || s.attempts.some((a) => a.leftAt === undefined);
  if (!s.target || !wantsSpare || hasSpare) return [state, ...effects];
  return [{ ...state, busy: true }, ...effects, ask(s, s.target)];
}

/** Handles the button next to a window that did not open. If this click also opens no window, the patient stays in this view. */
export function followed(s: State): Next {
  const a = currentAttempt(s);
  return a && a.how !== "seen"
    ? [s, { do: "wait", key: "followed", ms: doubt, then: { type: "unopened", id: a.id } }]
    : [s];
}

/**
 * Reports whether the page can't open windows. If the page can't open windows, the focus has not moved and the server
 * has seen no window.
 */
export function isUnopened(s: State, id: string): boolean {
  const a = currentAttempt(s);
  return (
    s.view === "waiting" && s.focused && a?.id === id && a.how !== "seen" && a.status === "created" && a.misses === 0
  );
}

export function tellPending(s: State, id: string): Next {
  const a = s.attempts.find((one) => one.id === id);
  if (!a || a.pending) return [s];
  return [withAttempt(s, id, { pending: true }), events.pending(s, a)];
}

export function progressed(s: State, id: string, answer: Answer<Progress>, now: number): Next {
  const a = s.attempts.find((one) => one.id === id);
  if (!a || a.leftAt === undefined) return [s];
  const elapsed = now - a.leftAt;
  if (!answer.ok) return unanswered(s, a, answer.failure, elapsed);
  const { status, result, error, patient_initials: initials } = answer.data;
  if (status === "done" && result) return done(s, id, result, initials);
  if (status === "failed" && error) return a.cancelling ? [without(s, id)] : failed(s, id, error);
  if (status === "expired" || elapsed >= patience) return ended(s, a, { cause: "expired", target: a.target });
  const undecided = status === "created" || status === "open"; // any other status came before the cancellation
  const next = withAttempt(s, id, {
    asking: false,
    misses: 0,
    status: status === "created" ? "created" : "open",
    cancelling: a.cancelling && undecided,
  });
  return a.again ? inquire(next, id) : [next, poll(id, pause(elapsed))];
}

/** Handles a failed poll. The failure says nothing about the attempt, so polling continues until the attempt expires. */
function unanswered(s: State, a: Attempt, failure: Failure, elapsed: number): Next {
  const lost = failure.kind === "lost" || failure.kind === "refused" || failure.kind === "foreign";
  const early = s.shell === "watch" && failure.kind === "lost"; // the window has not yet created the attempt
  if (lost && !early) return ended(s, a, { cause: "lost", target: a.target, requestId: failure.requestId });
  if (elapsed >= patience) return ended(s, a, { cause: "expired", target: a.target });
  const next = withAttempt(s, a.id, { asking: false, again: false, misses: early ? 0 : a.misses + 1 });
  return [next, poll(a.id, Math.max(failure.retryAfter ?? 0, pause(elapsed)))];
}

export function without(s: State, id: string): State {
  return { ...s, attempts: s.attempts.filter((a) => a.id !== id) };
}

function done(s: State, id: string, connection: Connection, initials: string | undefined): Next {
  const [told, ...effects] = tellPending(s, id);
  const a = s.attempts.find((one) => one.id === id);
  const latest = { name: a?.target.name ?? "", initials, connection };
  const others = s.connected.filter((c) => c.connection.org_connection_id !== connection.org_connection_id);
  const earlier = s.earlier.filter((c) => c.connection.org_connection_id !== connection.org_connection_id);
  const next: State = { ...without(told, id), connected: [...others, latest], earlier, latest, leaving: false };
  const arrives = s.current === id || ["waiting", "institution", "failed", "stopping"].includes(s.view);
  const shown: State = arrives ? { ...arrive(forgetUnused(next), "connected"), ending: undefined } : next;
  return [shown, { do: "drop", key: "prepare" }, ...effects, events.success(s, connection)];
}

function failed(s: State, id: string, error: AttemptError): Next {
  const [told, ...effects] = tellPending(s, id);
  const target = s.attempts.find((a) => a.id === id)?.target ?? { name: "" };
  const [next, ...dropped] = ended(told, { id }, { cause: error.cause, target, error, requestId: error.request_id });
  return [next, ...dropped, ...effects, ...events.failed(s, target, error)];
}

/** Ends an attempt. The view changes only if the patient is waiting for this attempt. */
export function ended(s: State, a: Pick<Attempt, "id">, ending: State["ending"]): Next {
  const next = without(s, a.id);
  if (s.current !== a.id) return [next];
  return [
    { ...arrive(next, "failed"), current: undefined, ending, copied: false, leaving: false },
    { do: "drop", key: "prepare" },
  ];
}

/** Shows a view after an outcome. While the patient is filling in a form, the form stays and the outcome is shown afterwards. */
export function arrive(s: State, view: View): State {
  if (s.view === "support" || s.view === "missing") return { ...s, from: view };
  return { ...s, view, busy: false, reopening: false, trouble: undefined };
}
