/** Explains a failed delivery attempt: the likely fault of the receiving endpoint, and its remedy. */
import type { DeliveryAttempt } from "../api/records.ts";

const BY_FAILURE: Record<string, string> = {
  timeout: "Your endpoint didn’t respond in time. Respond first, then process the event.",
  dns: "We couldn’t resolve the host name.",
  tls: "We couldn’t verify the TLS certificate. Check the certificate’s chain and expiry date.",
  connect: "We couldn’t connect to the host. Check that your server is running and its firewall accepts our requests.",
  blocked_address: "The host resolves to a private or reserved IP address, so we didn’t send the event.",
  unsubscribed: "The webhook was removed or no longer receives this event type.",
};

const SIGNATURE =
  "If it rejects our signatures, check the webhook’s secret, and verify the raw body before you parse it.";

const BY_STATUS: Record<number, string> = {
  400: `Your endpoint rejected the request. ${SIGNATURE}`,
  401: `Your endpoint requires authentication. ${SIGNATURE}`,
  403: `Your endpoint or its firewall refused the request. ${SIGNATURE}`,
  404: "Your server has no handler at this URL. Check the webhook’s URL.",
  405: "Your endpoint doesn’t accept POST requests.",
  410: "Your endpoint returned 410 Gone, so we disabled the webhook.",
  413: "Your server limits the request size. Allow at least 512 KB.",
  415: "Your endpoint must accept the content type application/json.",
  429: "Your endpoint limits our requests. Lower the webhook’s rate in its settings.",
};

/** Returns the explanation of an attempt's failure, or "" for a successful attempt. */
export function explain({ failure = "", status = 0 }: Pick<DeliveryAttempt, "failure" | "status">): string {
  if (failure !== "http_status") return failure === "" ? "" : (BY_FAILURE[failure] ?? failure);
  if (status >= 300 && status < 400)
    return "Your endpoint redirected the request. We don’t follow redirects, so use the final address as the webhook’s URL.";
  if (status >= 500)
    return "Your server failed while it handled the event. Check its logs for the time of this attempt.";
  return BY_STATUS[status] ?? "Your endpoint must respond with a 2xx status.";
}
