/** Client of the service (docs/openapi.yaml). Every call resolves to an answer, and no call throws. */
import type { Connection } from "../../kit/protocol.ts";
import { bestEndpoint, hits, institution } from "./catalog.ts";
import type { Answer, AttemptError, Calls, PreparedAttempt, Standing } from "./records.ts";
import { send, type Fetch, type Service } from "./request.ts";

/** The calls declared in records.ts. Aborting a call's signal aborts the call, and the call's answer is then ignored. */
export type Api = {
  [K in keyof Calls]: (ask: Calls[K]["ask"], signal: AbortSignal) => Promise<Answer<Calls[K]["data"]>>;
};

export function api(service: Service): Api {
  const at =
    (signal: AbortSignal): Fetch =>
    (request) =>
      send(service, request, signal);
  return {
    search: (ask, signal) => hits(at(signal), ask),
    institution: (ask, signal) => institution(at(signal), ask),
    endpoint: (ask, signal) => bestEndpoint(at(signal), ask.ids),
    prepare: (ask, signal) =>
      at(signal)<PreparedAttempt>({ path: "/bridge/attempts", body: { ...ask, lang: service.lang() } }),
    progress: ({ id, token }, signal) =>
      at(signal)<{ status: "open"; result?: Connection; error?: AttemptError }>({
        path: `/bridge/attempts/${encodeURIComponent(id)}`,
        token,
      }),
    cancel: ({ id, token }, signal) =>
      at(signal)({ path: `/bridge/attempts/${encodeURIComponent(id)}`, token, method: "DELETE" }),
    providers: (_, signal) => at(signal)({ path: "/bridge/tefca/identity" }),
    identity: (ask, signal) => at(signal)({ path: "/bridge/tefca/identity", body: { ...ask, lang: service.lang() } }),
    records: ({ id, token }, signal) => at(signal)<Standing>({ path: located(id), token }),
    authorize: ({ id, token, ids }, signal) =>
      at(signal)<Standing>({ path: `${located(id)}/authorization`, token, body: { tefca_directory_ids: ids } }),
    codes: ({ email }, signal) => at(signal)({ path: "/bridge/email/codes", body: { email, lang: service.lang() } }),
    verify: (ask, signal) => at(signal)({ path: "/bridge/email/verification", body: ask }),
    support: (ask, signal) =>
      at(signal)({ path: "/support/request", body: { ...ask, request_key: service.requestKey } }),
    missing: (ask, signal) =>
      at(signal)({ path: "/support/healthsystem", body: { ...ask, request_key: service.requestKey } }),
  };
}

const located = (id: string): string => `/bridge/tefca/records/${encodeURIComponent(id)}`;
