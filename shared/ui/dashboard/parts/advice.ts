/** Returns advice for the user after a failure. */
import type { Failure } from "../api/api.ts";

export function advice({ status, error, retryAfter }: Failure): string {
  if (status === 0) return "Your change may have been saved. If this page doesn’t show the change, try again.";
  if (error === "svc_proof_required") return "Your changes weren’t saved because you didn’t confirm your identity.";
  if (status === 403) return "Ask an owner or admin for access. You’ll find owners and admins under Members.";
  if (status === 404) return "This item may have been removed, or it may be in a different mode or organisation.";
  // Other conflicts describe their remedy.
  if (status === 409) return error === "svc_unavailable" ? "Reload the page before you try again." : "";
  if (status === 429) return `Too many requests. Try again ${inTime(retryAfter)}.`;
  if (status === 503 && retryAfter) return `Try again ${inTime(retryAfter)}.`;
  return status < 500 ? "" : "Try again. If the error persists, contact us with the request ID.";
}

/** Formats the seconds of Retry-After, rounded up. Returns "later" if Retry-After is absent. */
function inTime(seconds: number | undefined): string {
  if (!seconds) return "later";
  const [count, unit] =
    seconds < 60
      ? [Math.ceil(seconds), "second"]
      : seconds < 5400
        ? [Math.ceil(seconds / 60), "minute"]
        : [Math.ceil(seconds / 3600), "hour"];
  return `in ${count} ${unit}${count === 1 ? "" : "s"}`;
}
