/** Requests to the fake, and its answers. */
import type { Versioned } from "../api/records.ts";

export interface Asked {
  method: string;
  path: string; // path below /dashboard/
  query: URLSearchParams;
  body: Record<string, unknown>;
  ifMatch?: string | undefined;
}

export interface Told {
  status: number;
  json: object;
}

export type Answer = (asked: Asked, id: string) => unknown;

export class Stop extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, text: string) {
    super(text);
    this.status = status;
    this.code = code;
  }
}

export const missing = (): never => {
  throw new Stop(404, "svc_not_found", "Record not found.");
};

export function stop(status: number, code: string, text: string): never {
  throw new Stop(status, code, text);
}

/** Applies an edit, unless it was made from another version. */
export function edited<T extends Versioned>(found: T, { body, ifMatch }: Asked): T {
  if (ifMatch !== undefined && ifMatch !== `"${found.version}"`)
    stop(409, "svc_conflict", "The item changed after you loaded it, so nothing was saved.");
  return Object.assign(found, body, { version: String(Number(found.version) + 1) });
}
