/** Statuses after which the same request can succeed. */
export const TRANSIENT: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/** Milliseconds. Above it, the caller decides whether to wait. */
export const MAX_RETRY_AFTER = 120_000;

/** Waits. Tests replace it. */
export type Wait = (milliseconds: number) => Promise<void>;

export const wait: Wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * Returns a fetch function that repeats requests after network failures and transient statuses. It suits every operation
 * of the API, because all of them are idempotent. A response that requests a pause above MAX_RETRY_AFTER is returned at
 * once.
 */
export function retrying(send: typeof fetch, attempts: number, pause: Wait): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    for (let attempt = 1; ; attempt++) {
      let time = delay(attempt);
      try {
        const response = await send(request.clone());
        time = delay(attempt, response.headers.get("retry-after"));
        if (!TRANSIENT.has(response.status) || attempt >= attempts || time > MAX_RETRY_AFTER) return response;
        await response.body?.cancel();
      } catch (error) {
        if (request.signal.aborted || attempt >= attempts) throw error;
      }
      await pause(time);
    }
  };
}

/**
 * Returns the pause before the next attempt in milliseconds: the time that the server requests, or 0.5 to 1 s, doubled
 * per attempt.
 */
export function delay(attempt: number, retryAfter?: string | null): number {
  const asked = Number(retryAfter);
  if (retryAfter && Number.isFinite(asked) && asked >= 0) return asked * 1000;
  return Math.min(500 * 2 ** (attempt - 1), 16_000) * (1 + Math.random());
}
