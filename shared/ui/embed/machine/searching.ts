/** Searches for institutions and handles the patient's choice. */
import type { Answer, Hits } from "../api/records.ts";
import { searched } from "./events.ts";
import type { Effect, Filter } from "./message.ts";
import type { Next, Search, State } from "./state.ts";

/** The debounce time: long enough to type a word, and short enough to feel immediate. */
const debounce = 200;

/**
 * Reports whether the patient hasn't narrowed the search. An unnarrowed search has thousands of results, so the view
 * shows only the most used institutions. In test mode, the view shows the few sandbox institutions.
 */
export function isIdle({ mode, search: { query, filter } }: State): boolean {
  return mode === "live" && query.trim() === "" && filter.state === "" && filter.zip.length < 5;
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
  const next = withSearch({ ...s, trouble: undefined }, { loading: true, more: false });
  const cleared = isIdle(next) ? withSearch(next, { hits: [], total: undefined }) : next; // earlier results would look like suggestions
  return [cleared, { do: "drop", key: "search" }, { do: "wait", key: "search", ms, then: { type: "search" } }];
}

export function search(s: State): Next {
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
  return {
    do: "ask",
    key: "search",
    ask: { call: "search", ask: { query: query.trim(), state: filter.state, zip, after } },
  };
}

export function found(s: State, answer: Answer<Hits>, further: boolean, now: number): Next {
  if (!answer.ok) {
    const next = withSearch(s, { loading: false, more: false });
    const trouble = { failure: answer.failure, retry: { type: further ? "more" : "search" } } as const;
    return [s.view === "search" && !isIdle(s) ? { ...next, trouble } : next]; // the patient did not request suggestions
  }
  const used = answer.data.hits.filter((hit) => hit.mostUsed);
  const { hits, total } = isIdle(s) ? { hits: used, total: used.length || undefined } : answer.data;
  const next = withSearch(s, {
    hits: further ? [...s.search.hits, ...hits] : hits,
    total,
    loading: false,
    more: false,
  });
  return further ? [next] : [next, ...searched(next, now)];
}
