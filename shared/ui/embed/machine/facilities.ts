/** The steps after the identity check: found facilities, the patient's choice, and the resulting connections. */
import type { Answer, Calls, Facility, Progress, Standing } from "../api/records.ts";
import {
  arrive,
  currentAttempt,
  ended,
  forgetUnused,
  inquire,
  poll,
  progressed,
  tellPending,
  withAttempt,
  without,
} from "./attempting.ts";
import * as events from "./events.ts";
import type { Effect } from "./message.ts";
import { patience, pause } from "./schedule.ts";
import type { Connected, Next, State, Tefca, View } from "./state.ts";

/** Returns the TEFCA state. TEFCA mode must be shown. */
export function of({ tefca }: State): Tefca {
  if (!tefca) throw new Error("not in TEFCA mode");
  return tefca;
}

/** Reports whether the identity check is still valid. The server's clock decides, because the patient's clock may be wrong. */
export function isAlive(s: State): boolean {
  const standing = s.tefca?.standing;
  return (
    currentAttempt(s) !== undefined && standing?.identity_expires_at !== undefined && standing.status !== "expired"
  );
}

/** Reports whether closing now would lose a result or leave a result unreported. */
export function underWay(s: State): boolean {
  return (
    s.view === "locating" || s.view === "connecting" || ((s.view === "facilities" || s.view === "summary") && s.busy)
  );
}

/** Returns the facilities that have readable records of this patient. */
export function found(s: State): Facility[] {
  return s.tefca?.standing?.facilities.filter((one) => one.match === "found") ?? [];
}

/** Returns the facilities that the patient can choose: neither connected nor being connected. */
export function open(s: State): Facility[] {
  return found(s).filter(({ outcome }) => outcome !== "connected" && outcome !== "connecting");
}

export function tick(s: State, ids: string[], on: boolean): Next {
  const tefca = of(s);
  const others = tefca.ticked.filter((id) => !ids.includes(id));
  return [{ ...s, judged: 0, tefca: { ...tefca, ticked: on ? [...others, ...ids] : others } }];
}

export function choose(s: State): Next {
  return [{ ...s, view: "facilities", trouble: undefined, judged: 0 }];
}

/** The maximum number of facilities that the server connects at once. The patient can choose further facilities afterwards. */
const atOnce = 50;

/**
 * Sends the choice. Sending a choice twice is harmless. Polling pauses until the choice's response arrives, because a
 * poll's response could be outdated.
 */
export function authorize(s: State, ids: string[]): Next {
  const a = currentAttempt(s);
  if (!a || s.busy) return [s];
  if (ids.length === 0) return [{ ...s, judged: s.judged + 1 }];
  const next: State = {
    ...withAttempt(s, a.id, { asking: true, again: false }),
    busy: true,
    judged: 0,
    trouble: undefined,
  };
  const ask = { id: a.id, token: a.token, ids: ids.slice(0, atOnce) };
  return [
    next,
    { do: "drop", key: `progress:${a.id}` },
    { do: "unwait", key: `poll:${a.id}` },
    { do: "ask", key: "authorize", ask: { call: "authorize", ask } },
  ];
}

export function authorized(
  s: State,
  { id, ids }: Calls["authorize"]["ask"],
  answer: Answer<Standing>,
  now: number,
): Next {
  const next: State = { ...withAttempt(s, id, { asking: false }), busy: false };
  if (answer.ok && answer.data.status !== "failed") return stands(next, id, answer.data, now, true);
  if (answer.ok) return answered(next, id, answer, now);
  const { failure } = answer;
  if (failure.kind === "taken") return over(next, id, "identity_expired", failure.requestId);
  if (failure.kind === "lost" || failure.kind === "foreign") return over(next, id, "lost", failure.requestId);
  return [
    { ...next, trouble: { failure, retry: failure.kind === "refused" ? undefined : { type: "authorize", ids } } },
  ];
}

function over(s: State, id: string, cause: string, requestId: string | undefined): Next {
  const target = s.attempts.find((a) => a.id === id)?.target ?? { name: "" };
  return ended(s, { id }, { cause, target, requestId });
}

/** Handles a poll's response. Until the identity check is done, an attempt behaves like an attempt at a portal. */
export function answered(s: State, id: string, answer: Answer<Standing>, now: number): Next {
  if (!answer.ok) return progressed(s, id, answer, now);
  const { status, error, facilities } = answer.data;
  if (isProven(status) || (status === "expired" && facilities.length > 0))
    return stands(s, id, answer.data, now, false);
  const progress: Progress = error ? { status, error } : { status };
  return progressed(s, id, { ok: true, data: progress }, now);
}

/** Reports whether the server is still working and polling is therefore worthwhile. */
const isBusy = (status: Standing["status"]): status is "locating" | "authorizing" =>
  status === "locating" || status === "authorizing";

const isProven = (status: Standing["status"]): status is "locating" | "authorizing" | "located" =>
  isBusy(status) || status === "located";

/** Handles a response about the network. asked reports whether the response answers the patient's own choice. */
function stands(s: State, id: string, standing: Standing, now: number, asked: boolean): Next {
  const a = s.attempts.find((one) => one.id === id);
  if (!a || a.leftAt === undefined) return [s];
  const isCurrent = s.current === id;
  if (!isCurrent && of(s).standing && currentAttempt(s)) return [without(s, id)]; // another window's check is sufficient
  const [pending, ...effects] = tellPending(isCurrent ? s : adopt(s, id), id);
  const { tefca, connected, told } = connections(pending, standing);
  const since = tefca.standing?.status === standing.status ? tefca.since : now;
  const heard = withAttempt({ ...pending, connected, tefca: { ...tefca, standing, since } }, id, {
    asking: false,
    misses: 0,
    status: "open",
  });
  const next = show(heard, viewOf(heard, standing, asked));
  if (isBusy(standing.status) && now - a.leftAt >= patience)
    return [...ended(next, a, { cause: "expired", target: a.target }), ...effects, ...told];
  const [last, ...further] = a.again
    ? inquire(next, id)
    : ([next, ...(isBusy(standing.status) ? [poll(id, pause(now - since))] : [])] as Next);
  return [last, ...effects, ...told, ...further];
}

/** Makes an attempt current, because the identity check may have happened in an older window that the patient had left. */
function adopt(s: State, id: string): State {
  return { ...forgetUnused(forget(s)), current: id, target: s.attempts.find((a) => a.id === id)?.target };
}

/** Clears the identity check, so that another identity check can begin. */
export function forget(s: State): State {
  const { standing } = of(s);
  return {
    ...(standing && s.current ? without(s, s.current) : s),
    ending: undefined,
    tefca: { ...of(s), standing: undefined, ticked: [], told: [] },
  };
}

/** Returns new connections with their events. Each connection is reported once per attempt. */
function connections(s: State, { facilities }: Standing): { tefca: Tefca; connected: Connected[]; told: Effect[] } {
  const tefca = of(s);
  const fresh = facilities.flatMap(({ tefca_directory_id: id, name, connection }) =>
    connection && !tefca.told.includes(id) ? [{ id, name, connection }] : [],
  );
  const ids = fresh.map(({ connection }) => connection.org_connection_id);
  const others = s.connected.filter(({ connection }) => !ids.includes(connection.org_connection_id));
  return {
    tefca: { ...tefca, told: [...tefca.told, ...fresh.map(({ id }) => id)] },
    connected: [...others, ...fresh.map(({ name, connection }) => ({ name, connection }))],
    told: fresh.map(({ connection }) => events.success(s, connection)),
  };
}

/** Returns the view behind an open form. */
const seen = (s: State): View => (s.view === "support" || s.view === "missing" ? s.from : s.view);

function viewOf(s: State, { status, facilities }: Standing, asked: boolean): View {
  if (status === "locating") return "locating";
  if (status === "authorizing" || facilities.some(({ outcome }) => outcome === "connecting")) return "connecting";
  if (asked || seen(s) === "connecting") return "summary";
  return seen(s) === "summary" ? "summary" : "facilities";
}

function show(s: State, view: View): State {
  return seen(s) === view ? s : { ...arrive(s, view), leaving: false, judged: 0, tefca: { ...of(s), ticked: [] } };
}
