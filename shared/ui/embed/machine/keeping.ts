/**
 * The part of the state that survives a reload, a discarded tab and a reopened modal for 30 minutes
 * (docs/adr/0035-the-widget.md). The kept state belongs to one page and its configuration. For another patient, or for
 * another page's frame in the same tab, nothing is restored.
 */
import type { Config } from "../../kit/protocol.ts";
import * as attempting from "./attempting.ts";
import type { Effect } from "./message.ts";
import { patience } from "./schedule.ts";
import type { Next, State, View } from "./state.ts";

const members = [
  "view",
  "from",
  "email",
  "proof",
  "verification",
  "institution",
  "portalId",
  "target",
  "attempts",
  "current",
  "connected",
  "earlier",
  "latest",
  "draft",
  "ending",
] as const;

type Member = (typeof members)[number];

export interface Kept {
  v: 1;
  owner: string; // the return value of ownerOf
  lang?: string | undefined; // if the patient switched
  state: Pick<State, Member> & { query: string; filter: State["search"]["filter"]; reported: string[] };
}

/** Returns a text that identifies the page and its patient. origin is the embedding page's origin. */
export function ownerOf(
  origin: string,
  { lang: _, searchQuery: _query, eventTypes: _types, ...config }: Config,
): string {
  return JSON.stringify([origin, Object.entries(config).sort(([a], [b]) => (a < b ? -1 : 1))]);
}

/** A visit and the time of the visit's last change, in milliseconds since 1970. */
export type Stamped = Kept & { at: number };

/** Returns the part of a state to keep, or undefined if the patient has not begun. Codes are never kept. */
export function kept(s: State, owner: string, lang: string | undefined): Kept | undefined {
  const view = s.view === "closed" ? (s.rest ?? "loading") : s.view;
  if (s.view === "loading" || view === "splash" || view === "config_error" || s.shell === "watch") return undefined;
  const state = Object.fromEntries(members.map((name) => [name, s[name]])) as unknown as Kept["state"];
  const { query, filter } = s.search;
  if (s.told)
    Object.assign(
      state,
      { connected: [], earlier: [...s.earlier, ...s.connected] },
      s.rest ? {} : { attempts: [], current: undefined },
    );
  return {
    v: 1,
    owner,
    lang,
    state: { ...state, view, draft: { ...s.draft, code: "" }, query, filter, reported: s.tefca?.told ?? [] },
  };
}

/** Reads the state that an earlier visit kept. Returns undefined if the text is old, damaged or from a different owner. */
export function keptIn({ owner, text }: NonNullable<State["kept"]>, now: number): Kept | undefined {
  try {
    const found = JSON.parse(text ?? "null") as Stamped | null;
    const isOurs = found?.v === 1 && found.owner === owner;
    return isOurs && now - found.at < patience && now >= found.at ? found : undefined;
  } catch {
    return undefined;
  }
}

/** TEFCA mode's views that the response to the next poll restores. */
const polled: View[] = ["locating", "facilities", "connecting", "summary"];

/**
 * Continues an earlier visit. Returns the visit's state and, if the visit has a view to return to, the view's effects.
 * After a reload, the application can't reach its windows, so it follows open sign-ins by polling.
 */
export function restore(
  s: State,
  { state: { query, filter, reported, view, ...rest } }: Kept,
  now: number,
): { next: State; effects: Effect[]; view: View } {
  const attempts = rest.attempts
    .filter((a) => a.leftAt !== undefined && now - a.leftAt < patience)
    .map((a) => ({ ...a, how: "unseen" as const, closed: false, asking: false, again: false, misses: 0 }));
  const current = attempts.find((a) => a.id === rest.current)?.id;
  const tefca = s.tefca && { ...s.tefca, told: reported };
  const next: State = {
    ...s,
    ...rest,
    attempts,
    current,
    tefca,
    search: { ...s.search, query: query || s.search.query, filter },
    canResend: view === "code",
  };
  const [polling, ...effects] = attempting.inquireAll(next);
  const waits = view === "waiting" || polled.includes(view);
  return {
    next: polling,
    effects,
    view: waits
      ? current
        ? "waiting"
        : "institution"
      : view === "stopping" || view === "failed"
        ? "institution"
        : view,
  };
}

/** Returns the restored view and the effects that the view needs. ways contains functions of step.ts, such as toEmail. */
export function resumed(
  s: State,
  view: View,
  effects: Effect[],
  ways: Record<"start" | "email" | "search" | "institution", (s: State) => Next>,
): Next {
  const go = (way: keyof typeof ways): Next => {
    const [next, ...more] = ways[way](s);
    return [next, ...effects, ...more];
  };
  switch (view) {
    case "email":
      return go("email");
    case "search":
      return go("search");
    case "institution":
      return go(s.institution || s.target ? "institution" : "start");
    case "code":
    case "waiting":
    case "support":
    case "missing":
    case "connected":
    case "finish":
      return [{ ...s, view }, ...effects];
    default:
      return go("start");
  }
}
