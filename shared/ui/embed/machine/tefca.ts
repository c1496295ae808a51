/**
 * TEFCA mode as an extension of step. One identity check replaces the sign-in at each hospital. The identity check uses
 * the same window, attempt and polling as a sign-in (attempting.ts). facilities.ts handles the steps after the identity
 * check. Only elements with tefca-mode load this module.
 */
import type { Answer, Answered, Calls } from "../api/records.ts";
import * as attempting from "./attempting.ts";
import * as facilities from "./facilities.ts";
import * as forms from "./forms.ts";
import { keptIn, restore, resumed, type Kept } from "./keeping.ts";
import type { Effect, Message } from "./message.ts";
import type { Next, State, View } from "./state.ts";
import * as usual from "./step.ts";

/** Returns the next state and effects, or undefined if ordinary mode's step handles the message. */
export function step(s: State, m: Message, now: number): Next | undefined {
  if (m.type === "loaded") return begin(s, now);
  if (!s.tefca) return undefined;
  switch (m.type) {
    case "answered":
      return answered(s, m.answered, now);
    case "agree":
    case "restart":
      return toProviders(s, now);
    case "providers":
      return [{ ...s, busy: true, trouble: undefined }, question];
    case "provider":
      return chooseProvider(s, m.id);
    case "prepare":
      return usual.isUnproven(s, now)
        ? usual.toEmail(s)
        : attempting.prepare({ ...facilities.forget(s), view: "institution" });
    case "tick":
      return facilities.tick(s, m.ids, m.on);
    case "authorize":
      return facilities.authorize(s, m.ids);
    case "choose":
      return facilities.choose(s);
    case "instead":
      return toSearch(s, now);
    case "back":
      return back(s, now);
    case "close":
      return facilities.underWay(s) && !s.leaving ? [{ ...s, leaving: true }] : undefined;
    default:
      return undefined;
  }
}

const question: Effect = { do: "ask", key: "providers", ask: { call: "providers", ask: {} } };

/**
 * Starts TEFCA mode. The list of providers determines whether TEFCA mode is available, so the application loads the
 * list while the patient reads the consent page. Options for a single institution are ignored.
 */
function begin(s: State, now: number): Next {
  const { brandId: _, portalId: _portal, endpointId: _endpoint, ...config } = s.config;
  const tefca = { providers: undefined, simulated: false, standing: undefined, since: now, ticked: [], told: [] };
  const next: State = { ...s, config, tefca, view: "splash" };
  const earlier = s.kept && keptIn(s.kept, now);
  return earlier ? resume(next, earlier, now) : [next, question];
}

/** Continues an earlier visit in this tab. The next poll restores the views that follow the identity check. */
function resume(s: State, kept: Kept, now: number): Next {
  const { next, effects, view } = restore(s, kept, now);
  const providers = (state: State): Next => toProviders(state, now);
  const ways = { start: providers, email: usual.toEmail, search: providers, institution: providers };
  return resumed(next, view, [question, ...effects], ways);
}

function answered(s: State, a: Answered, now: number): Next | undefined {
  switch (a.call) {
    case "providers":
      return told(s, a.answer, now);
    case "verify":
      return a.answer.ok ? toProviders(forms.proven(s, a.answer.data, now), now) : undefined;
    case "identity":
      return prepared(s, a.answer, now);
    case "records":
      return facilities.answered(s, a.ask.id, a.answer, now);
    case "authorize":
      return facilities.authorized(s, a.ask, a.answer, now);
    default:
      return undefined;
  }
}

/** Handles the list of providers. An organisation that lacks the plan or the configuration gets a configuration error. */
function told(s: State, answer: Answer<Calls["providers"]["data"]>, now: number): Next | undefined {
  const waits = s.view === "institution" && s.busy;
  if (!answer.ok) {
    const { kind, description, requestId } = answer.failure;
    if (kind === "foreign") return undefined;
    if (kind === "refused" || kind === "lost") return usual.misconfigured(s, description, requestId);
    return [waits ? { ...s, busy: false, trouble: { failure: answer.failure, retry: { type: "providers" } } } : s];
  }
  const { providers, simulated } = answer.data;
  if (providers.length === 0) return usual.misconfigured(s, "No identity provider is configured.", undefined);
  const next: State = { ...s, tefca: { ...facilities.of(s), providers, simulated } };
  return waits ? toProviders(next, now) : [next];
}

/** Leads to the identity check. An hour after the email code, the email step repeats. */
export function toProviders(s: State, now: number): Next {
  if (usual.isUnproven(s, now)) return usual.toEmail(s);
  const next: State = {
    ...attempting.forgetUnused(facilities.forget(s)),
    view: "institution",
    target: undefined,
    trouble: undefined,
    busy: false,
  };
  const { providers } = facilities.of(s);
  if (!providers) return [{ ...next, busy: true }, question];
  return providers.length === 1 ? chooseProvider(next, providers[0]?.id) : [next];
}

function chooseProvider(s: State, id: string | undefined): Next {
  const provider = facilities.of(s).providers?.find((one) => one.id === id);
  if (!provider)
    return [
      { ...attempting.forgetUnused(s), target: undefined, busy: false, trouble: undefined },
      { do: "drop", key: "prepare" },
    ];
  return attempting.prepare({ ...s, target: { name: provider.name, identityProvider: provider.id } });
}

function prepared(s: State, answer: Answer<Calls["identity"]["data"]>, now: number): Next | undefined {
  if (answer.ok)
    return attempting.prepared(s, { ok: true, data: { ...answer.data, connect_url: answer.data.identity_url } }, now);
  const { kind, error, description, requestId } = answer.failure;
  if (kind === "foreign") return undefined;
  return error === "svc_plan_required"
    ? usual.misconfigured(s, description, requestId)
    : attempting.prepared(s, answer, now);
}

/** Switches to the ordinary search if the network found nothing. The patient can't return, because the network query has ended. */
function toSearch(s: State, now: number): Next {
  const attempts = s.attempts.filter((a) => !a.target.identityProvider);
  return usual.step(
    { ...s, tefca: undefined, target: undefined, current: undefined, attempts },
    { type: "show", view: "search" },
    now,
  );
}

/** Returns the view behind the current one in TEFCA mode, or undefined. */
export function behind(s: State): View | undefined {
  switch (s.view) {
    case "institution":
      return s.target && (s.tefca?.providers?.length ?? 0) > 1 ? "institution" : undefined;
    case "failed":
      return "institution";
    case "summary":
      return facilities.isAlive(s) ? "facilities" : undefined;
    default:
      return usual.behind(s);
  }
}

function back(s: State, now: number): Next | undefined {
  switch (s.view) {
    case "institution":
      return behind(s) ? chooseProvider(s, undefined) : [s];
    case "failed":
      return toProviders(s, now);
    case "summary":
      return facilities.isAlive(s) ? facilities.choose(s) : [s];
    default:
      return undefined;
  }
}
