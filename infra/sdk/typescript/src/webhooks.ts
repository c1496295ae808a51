import { Webhook } from "standardwebhooks";
import type { Event } from "./client.js";

/**
 * Verifies a webhook request and returns its event. It throws standardwebhooks' WebhookVerificationError if no signature
 * is valid or the request is older than five minutes. Pass the body as received, before any JSON parser.
 */
export function verifyWebhook(
  body: string | Uint8Array,
  headers: Headers | Record<string, string | string[] | undefined>,
  secret: string,
): Event {
  const flat: Record<string, string> = {};
  const entries = headers instanceof Headers ? headers.entries() : Object.entries(headers);
  for (const [name, value] of entries) {
    if (typeof value === "string") flat[name.toLowerCase()] = value;
  }
  return new Webhook(secret).verify(Buffer.from(body), flat) as Event;
}
