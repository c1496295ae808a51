/** The chosen institution, with its portal, endpoint and attempt. */
import type { Answer, Endpoint, Institution } from "../api/records.ts";
import { forgetUnused, prepare } from "./attempting.ts";
import type { Effect } from "./message.ts";
import type { Next, State } from "./state.ts";

const fresh = { portalId: undefined, target: undefined, trouble: undefined, busy: false, ending: undefined } as const;

export function pick(s: State, id: string): Next {
  const hit = s.search.hits.find((one) => one.id === id);
  return hit ? enter(s, hit) : [s];
}

function enter(s: State, institution: Institution): Next {
  const next: State = { ...forgetUnused(s), ...fresh, view: "institution", institution };
  const [portal] = institution.portals;
  if (institution.endpointId) return aim(next, institution.endpointId, institution.platformType);
  return portal && institution.portals.length === 1 ? choose(next, portal.id) : [next];
}

/** Chooses the healthiest of several endpoints behind a portal, since a patient can't tell them apart. */
export function choose(s: State, portalId: string | undefined): Next {
  const portal = s.institution?.portals.find((one) => one.id === portalId);
  const drop: Effect[] = [
    { do: "drop", key: "prepare" },
    { do: "drop", key: "endpoint" },
  ];
  const next: State = { ...forgetUnused(s), ...fresh, portalId: portal?.id };
  const [only] = portal?.endpoint_ids ?? [];
  if (!portal || !only) return [next, ...drop];
  if (portal.endpoint_ids.length === 1) return aim(next, only, s.institution?.platformType);
  return [
    { ...next, busy: true },
    ...drop,
    { do: "ask", key: "endpoint", ask: { call: "endpoint", ask: { ids: portal.endpoint_ids } } },
  ];
}

export function endpointFound(s: State, answer: Answer<Endpoint>): Next {
  if (answer.ok) return aim(s, answer.data.id, answer.data.platformType);
  return [{ ...s, busy: false, trouble: { failure: answer.failure, retry: { type: "portal", id: s.portalId } } }];
}

function aim(s: State, endpointId: string, platformType: string | undefined): Next {
  const { institution, portalId } = s;
  const [portal] = institution?.portals ?? [];
  const chosen = institution?.portals.find((one) => one.id === portalId) ?? portal;
  const target = {
    name: institution?.name ?? "",
    endpointId,
    platformType,
    portalId: chosen?.owners?.[endpointId] ?? chosen?.id,
    brandId: institution?.id || undefined,
  };
  return prepare({ ...s, target });
}

/** Loads the institution that the page names. */
export function load(s: State): Next {
  const { brandId, portalId, endpointId } = s.config;
  const next: State = { ...forgetUnused(s), ...fresh, view: "institution", institution: undefined, busy: true };
  return [
    next,
    { do: "ask", key: "institution", ask: { call: "institution", ask: { brandId, portalId, endpointId } } },
  ];
}

/** Looks up a reconnect's institution only for the institution's name. The attempt doesn't wait for the name. */
export function loaded(s: State, answer: Answer<Institution>): Next {
  const target = s.target;
  if (target?.reconnect) {
    if (!answer.ok) return [s];
    const { name } = answer.data;
    const attempts = s.attempts.map((a) => (a.target.reconnect ? { ...a, target: { ...a.target, name } } : a));
    return [{ ...s, institution: answer.data, target: { ...target, name }, attempts }];
  }
  if (answer.ok) return enter(s, answer.data);
  return [{ ...s, busy: false, trouble: { failure: answer.failure, retry: { type: "load" } } }];
}

/** Starts a reconnect. A reconnect authorises the same connection again and therefore has no search. */
export function reconnect(s: State, reconnects: string): Next {
  const { brandId, portalId, endpointId } = s.config;
  const target = { name: "", reconnect: reconnects, brandId, portalId, endpointId };
  const next: State = { ...s, ...fresh, view: "institution", institution: undefined, target };
  const [state, ...effects] = prepare(next);
  return [
    state,
    ...effects,
    ...(brandId ? [{ do: "ask", key: "institution", ask: { call: "institution", ask: { brandId } } } as const] : []),
  ];
}
