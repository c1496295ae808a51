/** What a whole page of ours is given: by its own query, or by the older element in the fragment that no server sees. */
import type { Config, WindowFragment } from "../kit/protocol.ts";
import type { Boot } from "./boot.ts";

/** The fragment of the older element's window; undefined on every other page. */
export function fragmentOf(hash: string): WindowFragment | undefined {
  const members = Object.fromEntries(new URLSearchParams(hash.slice(1)));
  return members["attempt_id"] && members["attempt_token"] ? (members as unknown as WindowFragment) : undefined;
}

type Origins = Pick<Boot, "api_mode" | "allowed_origins">;

/** Why popup mode does not work, for who builds the page. */
export const noPopupMode = "Popup mode works only from the organisation's registered origins, and only if the page sends its origin as the referrer.";

/** Whether no page at all may use popup mode. */
export function lacksOrigins({ api_mode, allowed_origins }: Origins): boolean {
  return api_mode === "live" && allowed_origins.length === 0;
}

/**
 * Whether the older element's window may take the attempt that its fragment names: whoever made that address learns the outcome, so it has
 * to come from a page of the organisation, not from a link that anybody can send. A browser lets no page name another origin than its own
 * as the referrer (docs/develop/threat-model.md). In test mode an organisation need not have registered any.
 */
export function mayTake({ api_mode, allowed_origins }: Origins, referrer: string): boolean {
  if (allowed_origins.length === 0) return !lacksOrigins({ api_mode, allowed_origins });
  return URL.canParse(referrer) && allowed_origins.includes(new URL(referrer).origin);
}

/** The server is given a hash of the token that the element has made, so that nobody who reads it there can ask after the attempt. */
export async function hashOf(token: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token)));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const names = {
  reconnectOrgConnectionId: "reconnect_org_connection_id",
  externalId: "external_id",
  externalState: "external_state",
  requestId: "request_id",
  brandId: "brand_id",
  portalId: "portal_id",
  endpointId: "endpoint_id",
} as const;

/** Nothing has introduced us here, so that a page begins with what is shared; a patient who reconnects has seen it. */
export function pageConfig({ public_id, query }: Boot, fragment: WindowFragment | undefined): Config {
  const source = fragment ?? query;
  const given = Object.entries(names).flatMap(([key, name]) => (source[name] ? [[key, source[name]]] : []));
  const showSplash = !source.reconnect_org_connection_id;
  return { publicId: public_id, searchOnly: false, showSplash, tefcaMode: false, eventTypes: [], ...Object.fromEntries(given) };
}
