/** What a reader can do about a failure. */
import type { Failure } from "../api/api.ts";

export function advice({ status, error, retryAfter }: Failure): string {
  if (status === 0) return "Nothing was changed that you could not see here: try again.";
  if (error === "svc_proof_required") return "Nothing was done, since it was not proven that it is you.";
  if (status === 403) return "Ask an owner or admin of the organisation; Members shows who they are.";
  if (status === 404) return "It may have been removed, or is of the other mode or another organisation.";
  if (status === 409) return "Somebody has changed it meanwhile, or it is in use. Load the page again and look at it first.";
  if (status === 429) return `Too many requests. Try again ${inTime(retryAfter)}.`;
  if (status === 503 && retryAfter) return `Try again ${inTime(retryAfter)}.`;
  return status < 500 ? "Change what is named, and try again." : "Try again. If the problem continues, write to us with the request id.";
}

/** When the service will accept the request again, rounded up. Without Retry-After nobody knows. */
function inTime(seconds: number | undefined): string {
  if (!seconds) return "later";
  const [count, unit] = seconds < 60 ? [Math.ceil(seconds), "second"] : seconds < 5400 ? [Math.ceil(seconds / 60), "minute"] : [Math.ceil(seconds / 3600), "hour"];
  return `in ${count} ${unit}${count === 1 ? "" : "s"}`;
}
