/** Shared state of all screens: the API, the session, the current place, and API requests as hooks. */
import { createContext } from "preact";
import { useCallback, useContext, useEffect, useRef, useState } from "preact/hooks";
import { Refused } from "../api/api.ts";
import type { Api, Failure } from "../api/api.ts";
import type { Membership, Role, DashboardSession } from "../api/records.ts";
import { address } from "./router.ts";
import type { Place } from "./router.ts";

/** Configuration that the server wrote into the page. */
export interface Boot {
  base_url: string; // base URL of the public API, which customers' code calls
  dashboard_url?: string; // URL of the dashboard if the dashboard has its own host
}

export interface App {
  api: Api;
  boot: Boot;
  session: DashboardSession;
  /** Reloads the session after the account or its organisations have changed. */
  refresh: () => Promise<void>;
  /** Sets or clears the session. */
  enter: (session: DashboardSession | undefined) => void;
  place: Place;
  /** Shows a result briefly in the announcement area. */
  say: (text: string) => void;
  /** One object for each form with unsaved input and each uncopied key on the page. */
  unsaved: Set<object>;
}

export const Context = createContext<App | undefined>(undefined);

export function useApp(): App {
  const app = useContext(Context);
  if (app === undefined) throw new Error("useApp must be called within Context.Provider");
  return app;
}

/**
 * Each role's permissions, as in docs/adr/0036-the-dashboard.md. Screens use the permissions only to hide actions that
 * the server would reject.
 */
const ALLOWED: Record<Role, readonly string[]> = {
  owner: ["view", "inspect", "develop", "operate", "manage", "own"],
  admin: ["view", "inspect", "develop", "operate", "manage"],
  developer: ["view", "inspect", "develop"],
  viewer: ["view"],
};

export interface Here extends App {
  org: Membership;
  /** base is the path of the current mode's resources; orgBase is the path of resources that both modes share. */
  base: string;
  orgBase: string;
  may: (permission: "inspect" | "develop" | "operate" | "manage" | "own") => boolean;
  link: (screen: string, id?: string, filters?: Record<string, string>) => string;
}

/** Returns the organisation and mode of the current place. */
export function useHere(): Here {
  const app = useApp();
  const { place, session } = app;
  const org = memberOf(session, place.org);
  if (org === undefined) throw new Error("the session has no access to the organisation");
  const orgBase = `organisations/${org.id}`;
  return {
    ...app,
    org,
    orgBase,
    base: `${orgBase}/${place.mode}`,
    may: (permission) =>
      ALLOWED[org.role].includes(permission === "develop" && place.mode === "live" ? "operate" : permission),
    link: (screen, id = "", filters = {}) => address({ org: org.id, mode: place.mode, screen, id, filters }),
  };
}

/** Returns a function that declares whether leaving the page would lose something of the calling component. */
export function useUnsaved(): (isUnsaved: boolean) => void {
  const unsaved = useContext(Context)?.unsaved;
  const owner = useRef({}).current;
  useEffect(() => () => void unsaved?.delete(owner), []);
  return (isUnsaved) => void (isUnsaved ? unsaved?.add(owner) : unsaved?.delete(owner));
}

/** Returns the membership of the named organisation. If no organisation is named, returns the first membership. */
export function memberOf(session: DashboardSession, org: string): Membership | undefined {
  return org === "" ? session.organisations[0] : session.organisations.find((one) => one.id === org);
}

export type Answer<T> = { data?: T; failure?: Failure; busy: boolean; reload: () => void; set: (data: T) => void };

const POLL_MS = 2_000;
/** Polling stops after ten minutes, because each request extends the session's idle expiry. */
const MOST_POLLS = 300;

/**
 * Fetches data once for each path and query, and again on reload. Old data stays visible until new data for the same
 * key arrives. While isUnderWay(data) is true and the page is visible, it also polls, and ignores failed polls.
 */
export function useQuery<T>(
  path: string,
  query: Record<string, string | undefined> = {},
  isUnderWay: (data: T) => boolean = () => false,
): Answer<T> {
  const { api } = useApp();
  const key = `${path}?${JSON.stringify(query)}`;
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<{ key: string; data?: T; failure?: Failure; busy: boolean }>({ key, busy: true });
  useEffect(() => {
    let over = false;
    setState((before) => ({
      ...(before.key === key && before.data !== undefined && { data: before.data }),
      key,
      busy: true,
    }));
    api.get<T>(path, query).then(
      (data) => !over && setState({ key, data, busy: false }),
      (error: unknown) => !over && setState({ key, failure: failureOf(error), busy: false }),
    );
    return () => {
      over = true;
    };
  }, [key, turn]);
  const polls = useRef(0);
  useEffect(() => {
    polls.current = 0;
  }, [key, turn]);
  useEffect(() => {
    if (state.key !== key || state.busy || state.data === undefined || !isUnderWay(state.data)) return;
    let over = false;
    const timer = setInterval(() => {
      if (document.visibilityState !== "visible" || (polls.current += 1) > MOST_POLLS) return;
      api.get<T>(path, query).then(
        (data) => !over && setState({ key, data, busy: false }),
        () => {},
      );
    }, POLL_MS);
    return () => {
      over = true;
      clearInterval(timer);
    };
  }, [key, state]);
  const { data, failure, busy } = state.key === key ? state : { data: undefined, failure: undefined, busy: true };
  return {
    ...(data !== undefined && { data }),
    ...(failure !== undefined && { failure }),
    busy,
    reload: useCallback(() => setTurn((before) => before + 1), []),
    set: (now) => setState({ key, data: now, busy: false }),
  };
}

export interface Action {
  busy: boolean;
  failure: Failure | undefined;
  /** Runs a function unless another function is running. If the function throws, the exception becomes the failure. */
  run: (does: () => Promise<void>) => void;
}

export function useAction(): Action {
  const [state, setState] = useState<{ busy: boolean; failure: Failure | undefined }>({
    busy: false,
    failure: undefined,
  });
  const doing = useRef(false);
  return {
    ...state,
    run: (does) => {
      if (doing.current) return;
      doing.current = true;
      setState({ busy: true, failure: undefined });
      does()
        .then(
          () => setState({ busy: false, failure: undefined }),
          (error: unknown) => setState({ busy: false, failure: failureOf(error) }),
        )
        .finally(() => {
          doing.current = false;
        });
    },
  };
}

export function failureOf(error: unknown): Failure {
  if (error instanceof Refused) return error.failure;
  const description =
    error instanceof Error && error.message !== ""
      ? error.message
      : "Something went wrong on this page. Reload the page.";
  return { status: 0, error: "page", description, requestId: "" };
}
