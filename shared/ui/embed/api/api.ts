/** Asks the service (docs/openapi.yaml). Every question ends in an answer: nothing here throws. */
import type { Answer, AttemptError, Calls, Failure, PreparedAttempt, Standing } from "./records.ts";
import type { Connection } from "../../kit/protocol.ts";
import { bestEndpoint, hits, institution } from "./catalog.ts";

/** Longer than the service waits for a portal. */
const patience = 25_000;

/** How the service is reached; fetch is the browser's. */
export interface Service {
  baseUrl: string;
  publicId: string;
  lang(): string;
  /** Of the visit: a form that arrives twice with the same words in it is one request. */
  requestKey: string;
  fetch: typeof fetch;
}

/** One request. data is what the envelope holds, of a shape that the caller knows from docs/openapi.yaml. */
export interface Request {
  path: string;
  query?: Record<string, string>;
  body?: unknown;
  token?: string;
}

export type Fetch = <T>(request: Request) => Promise<Answer<T>>;

interface Envelope<T> {
  success?: boolean;
  data?: T;
  error?: string;
  error_description?: string;
  request_id?: string;
}

/** Every question of records.ts. signal ends it; the answer is then nobody's. */
export type Api = { [K in keyof Calls]: (ask: Calls[K]["ask"], signal: AbortSignal) => Promise<Answer<Calls[K]["data"]>> };

export function api(service: Service): Api {
  const at = (signal: AbortSignal): Fetch => (request) => send(service, request, signal);
  return {
    search: (ask, signal) => hits(at(signal), ask),
    institution: (ask, signal) => institution(at(signal), ask),
    endpoint: (ask, signal) => bestEndpoint(at(signal), ask.ids),
    prepare: (ask, signal) => at(signal)<PreparedAttempt>({ path: "/bridge/attempts", body: ask }),
    progress: ({ id, token }, signal) => at(signal)<{ status: "open"; result?: Connection; error?: AttemptError }>({ path: `/bridge/attempts/${encodeURIComponent(id)}`, token }),
    providers: (_, signal) => at(signal)({ path: "/bridge/tefca/identity" }),
    identity: (ask, signal) => at(signal)({ path: "/bridge/tefca/identity", body: ask }),
    records: ({ id, token }, signal) => at(signal)<Standing>({ path: located(id), token }),
    authorize: ({ id, token, ids }, signal) => at(signal)<Standing>({ path: `${located(id)}/authorization`, token, body: { tefca_directory_ids: ids } }),
    codes: ({ email }, signal) => at(signal)({ path: "/bridge/email/codes", body: { email, lang: service.lang() } }),
    verify: (ask, signal) => at(signal)({ path: "/bridge/email/verification", body: ask }),
    support: (ask, signal) => at(signal)({ path: "/support/request", body: { ...ask, request_key: service.requestKey } }),
    missing: (ask, signal) => at(signal)({ path: "/support/healthsystem", body: { ...ask, request_key: service.requestKey } }),
  };
}

const located = (id: string): string => `/bridge/tefca/records/${encodeURIComponent(id)}`;

async function send<T>(service: Service, { path, query, body, token }: Request, signal: AbortSignal): Promise<Answer<T>> {
  const search = new URLSearchParams({ public_id: service.publicId, ...query });
  const headers: Record<string, string> = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (token !== undefined) headers["Authorization"] = `Bearer ${token}`;
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), patience);
  signal.addEventListener("abort", () => limit.abort(), { once: true });
  try {
    const response = await service.fetch(`${service.baseUrl}${path}?${search}`, {
      method: body === undefined ? "GET" : "POST",
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal: limit.signal,
      credentials: "omit", // no cookie of ours is for scripts, and none may tie a patient's visits together
      cache: "no-store",
      referrerPolicy: "no-referrer",
    });
    return await read<T>(response);
  } catch {
    return { ok: false, failure: failure("network") };
  } finally {
    clearTimeout(timer);
  }
}

async function read<T>(response: Response): Promise<Answer<T>> {
  const envelope: Envelope<T> = await response.json().catch(() => ({}));
  if (response.ok && envelope.success) return { ok: true, data: envelope.data as T };
  const seconds = Number(response.headers.get("Retry-After"));
  return {
    ok: false,
    failure: {
      kind: kindOf(response.status, envelope.error),
      error: envelope.error ?? "svc_server_error",
      description: envelope.error_description ?? "",
      requestId: envelope.request_id ?? response.headers.get("x-request-id") ?? undefined,
      retryAfter: seconds > 0 ? seconds * 1000 : undefined,
    },
  };
}

function kindOf(status: number, error: string | undefined): Failure["kind"] {
  if (status === 401 || error === "svc_live_access_required") return "foreign";
  if (status === 404) return "lost";
  if (status === 409) return "taken";
  if (status === 429) return "limited";
  return status >= 400 && status < 500 ? "refused" : "unavailable";
}

function failure(kind: Failure["kind"]): Failure {
  return { kind, error: "svc_server_error", description: "", requestId: undefined, retryAfter: undefined };
}
