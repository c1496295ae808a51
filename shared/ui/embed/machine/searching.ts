/** Searches for institutions and handles the patient's choice. */
import type { Answer, Hits } from "../api/records.ts";
import { searched } from "./events.ts";
import type { Effect, Filter } from "./message.ts";
import type { Next, Search, State } from "./state.ts";

/** The debounce time: long enough to type a word, and short enough to feel immediate. */
const debounce = 200;

/**
 * Reports whether the input is worth a search. An empty query would list thousands of institutions. In test mode, an
 * empty query usefully lists the few sandbox institutions.
 */
export function asks(s: State): boolean {
  return s.mode === "test" || s.search.query.trim() !== "" || s.search.filter.state !== "" || s.search.filter.zip.length === 5;
}

function withSearch(s: State, search: Partial<Search>): State {
  return { ...s, search: { ...s.search, ...search } };
}

/** Searches for institutions. The last result stays visible while the patient types. */
export function type(s: State, query: string): Next {
  return narrowed(withSearch(s, { query }), debounce);
}

export function narrow(s: State, filter: Filter): Next {
  return narrowed(withSearch(s, { filter }), debounce);
}

function narrowed(s: State, ms: number): Next {
  const next: State = { ...s, trouble: undefined };
  const drop: Effect = { do: "drop", key: "search" };
  if (asks(next)) return [withSearch(next, { loading: true, more: false }), drop, { do: "wait", key: "search", ms, then: { type: "search" } }];
  return [withSearch(next, { hits: [], total: undefined, loading: false, more: false }), drop, { do: "unwait", key: "search" }];
}

export function search(s: State): Next {
  if (!asks(s)) return [s];
  return [withSearch({ ...s, trouble: undefined }, { loading: true, more: false }), question(s)];
}

/** Loads the next page with the server's cursor. */
export function more(s: State): Next {
  const last = s.search.hits.at(-1);
  if (!last || s.search.more || s.search.loading) return [s];
  return [withSearch({ ...s, trouble: undefined }, { more: true }), question(s, last.sort)];
}

function question(s: State, after?: (string | number)[]): Effect {
  const { query, filter } = s.search;
  const zip = filter.zip.length === 5 ? filter.zip : "";
  return { do: "ask", key: "search", ask: { call: "search", ask: { query: query.trim(), state: filter.state, zip, after } } };
}

export function found(s: State, answer: Answer<Hits>, further: boolean, now: number): Next {
  if (!answer.ok) {
    const next = withSearch(s, { loading: false, more: false });
    const trouble = { failure: answer.failure, retry: { type: further ? "more" : "search" } } as const;
    return [s.view === "search" ? { ...next, trouble } : next];
  }
  const { hits, total } = answer.data;
  const next = withSearch(s, { hits: further ? [...s.search.hits, ...hits] : hits, total, loading: false, more: false });
  return further ? [next] : [next, ...searched(next, now)];
}
