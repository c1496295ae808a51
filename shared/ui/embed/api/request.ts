/** Sends one request to the service and reads the response's envelope (docs/openapi.yaml). */
import type { Answer, Failure } from "./records.ts";

/** The request timeout in milliseconds. The service waits for a portal for a shorter time. */
const patience = 25_000;

/** The connection to the service. fetch is the browser's function. */
export interface Service {
  baseUrl: string;
  publicId: string;
  lang(): string;
  /** Identifies the visit. If a form arrives twice with the same content, the service counts one request. */
  requestKey: string;
  fetch: typeof fetch;
}

/** One request to a path below the base URL. */
export interface Request {
  path: string;
  query?: Record<string, string>;
  body?: unknown;
  token?: string;
  /** The HTTP method. By default, a request with a body is a POST and any other request is a GET. */
  method?: "DELETE";
}

/** Sends a request. The caller specifies the type of the envelope's data, which docs/openapi.yaml declares. */
export type Fetch = <T>(request: Request) => Promise<Answer<T>>;

interface Envelope<T> {
  success?: boolean;
  data?: T;
  error?: string;
  error_description?: string;
  request_id?: string;
  cause?: string;
}

/** Sends a request. The promise resolves to an answer or a failure, and never rejects. */
export async function send<T>(
  service: Service,
  { path, query, body, token, method }: Request,
  signal: AbortSignal,
): Promise<Answer<T>> {
  const search = new URLSearchParams({ public_id: service.publicId, ...query });
  const headers: Record<string, string> = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (token !== undefined) headers["Authorization"] = `Bearer ${token}`;
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), patience);
  signal.addEventListener("abort", () => limit.abort(), { once: true });
  try {
    const response = await service.fetch(`${service.baseUrl}${path}?${search}`, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      keepalive: method === "DELETE", // a cancellation outlives the frame
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal: limit.signal,
      credentials: "omit", // scripts use no cookies, and no cookie may link a patient's visits
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
      cause: envelope.cause,
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
  return {
    kind,
    error: "svc_server_error",
    description: "",
    cause: undefined,
    requestId: undefined,
    retryAfter: undefined,
  };
}
