/** Advice for a reader after a failure. */
import type { Failure } from "../api/api.ts";

export function advice({ status, error, retryAfter }: Failure): string {
  if (status === 0) return "Any change would show here. If you don’t see it, try again.";
  if (error === "svc_proof_required") return "Nothing changed, because you didn’t confirm it’s you.";
  if (status === 403) return "Ask an owner or admin. You’ll find them under Members.";
  if (status === 404) return "It may have been removed, or it belongs to the other mode or another organisation.";
  if (status === 409) return "Someone may have changed it, or it’s in use. Reload the page and check it first.";
  if (status === 429) return `Too many requests. Try again ${inTime(retryAfter)}.`;
  if (status === 503 && retryAfter) return `Try again ${inTime(retryAfter)}.`;
  return status < 500 ? "" : "Try again. If it keeps happening, contact us with the request ID.";
}

/** Formats the seconds of Retry-After, rounded up; "later" without them. */
function inTime(seconds: number | undefined): string {
  if (!seconds) return "later";
  const [count, unit] = seconds < 60 ? [Math.ceil(seconds), "second"] : seconds < 5400 ? [Math.ceil(seconds / 60), "minute"] : [Math.ceil(seconds / 3600), "hour"];
  return `in ${count} ${unit}${count === 1 ? "" : "s"}`;
}
