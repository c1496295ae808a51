/**
 * Client of the dashboard's API. The session is in a cookie that scripts can't read. Scripts add a CSRF token that no
 * other site's page knows (docs/adr/0036-the-dashboard.md). URLs are relative to the page's URL, which is also the
 * API's base URL.
 */
import type { DashboardSession } from "./records.ts";

/** The request timeout, which exceeds the time limit of every function. */
const patience = 35_000;

export interface Failure {
  status: number; // 0 if the request did not reach the service
  error: string;
  description: string;
  requestId: string;
  retryAfter?: number; // from Retry-After: seconds until the service accepts the request again
}

/** Thrown when a request fails. */
export class Refused extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.description);
    this.failure = failure;
  }
}

type Query = Record<string, string | undefined>;

interface Host {
  base: string;
  fetch: typeof fetch;
  /** Called after the session has ended. */
  signedOut: () => void;
  /** Prompts the user for a fresh proof. Resolves to false if the user cancels. */
  prove: () => Promise<boolean>;
}

export class Api {
  readonly #host: Host;
  #token = "";

  constructor(host: Host) {
    this.#host = host;
  }

  get = <T>(path: string, query: Query = {}): Promise<T> => this.#ask<T>("GET", path + written(query));
  post = <T = void>(path: string, body: unknown = {}): Promise<T> => this.#ask<T>("POST", path, body);
  put = <T = void>(path: string, body: unknown): Promise<T> => this.#ask<T>("PUT", path, body);
  /** Sends an edit. If a version is given, the service refuses the edit of any other version with status 409. */
  patch = <T = void>(path: string, body: unknown, version?: string): Promise<T> =>
    this.#ask<T>("PATCH", path, body, version);
  /** Calls an endpoint of the public API, which has the same base URL as the dashboard's. */
  bridge = <T>(path: string, query: Query, body: unknown): Promise<T> =>
    this.#ask<T>("POST", `../bridge/${path}${written(query)}`, body);
  remove = <T = void>(path: string): Promise<T> => this.#ask<T>("DELETE", path);

  /** Stores the session's CSRF token. Each session has a different token. */
  keep(session: DashboardSession): DashboardSession {
    this.#token = session.csrf_token;
    return session;
  }

  async #ask<T>(method: string, path: string, body?: unknown, version?: string): Promise<T> {
    const response = await this.#send(method, path, body, version);
    const envelope = (await response
      .clone()
      .json()
      .catch(() => ({}))) as { success?: boolean; data?: T };
    if (response.ok && envelope.success === true) return envelope.data as T;
    const refused = await refusal(response);
    if (refused.failure.error === "svc_proof_required" && !path.startsWith("session") && (await this.#host.prove()))
      return this.#ask<T>(method, path, body, version);
    if (refused.failure.error === "svc_session_required") this.#host.signedOut();
    throw refused;
  }

  async #send(method: string, path: string, body: unknown, version?: string): Promise<Response> {
    const headers: Record<string, string> = {};
    if (method !== "GET" && this.#token !== "") headers["X-CSRF-Token"] = this.#token;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (version !== undefined) headers["If-Match"] = `"${version}"`;
    try {
      return await this.#host.fetch(`${this.#host.base}/${path}`, {
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
        credentials: "same-origin",
        cache: "no-store",
        redirect: "error",
        signal: AbortSignal.timeout(patience),
      });
    } catch {
      throw new Refused({
        status: 0,
        error: "network",
        description: "We couldn’t reach the service. Check your connection and try again.",
        requestId: "",
      });
    }
  }
}

async function refusal(response: Response): Promise<Refused> {
  const envelope = (await response.json().catch(() => ({}))) as {
    error?: string;
    error_description?: string;
    request_id?: string;
  };
  const retryAfter = Number(response.headers.get("retry-after"));
  return new Refused({
    ...(retryAfter > 0 && { retryAfter }),
    status: response.status,
    error: envelope.error ?? "svc_server_error",
    description: envelope.error_description ?? "The server sent an unexpected response.",
    requestId: envelope.request_id ?? response.headers.get("x-request-id") ?? "",
  });
}

function written(query: Query): string {
  const given = Object.entries(query).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== "",
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}
