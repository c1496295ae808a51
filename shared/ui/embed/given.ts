/** Configuration of hosted pages. The source is a page's query or, in the older element's window, the fragment, which no server sees. */
import type { Config, WindowFragment } from "../kit/protocol.ts";
import type { Boot } from "./boot.ts";

/** Returns the fragment of the older element's window, or undefined on other pages. */
export function fragmentOf(hash: string): WindowFragment | undefined {
  const members = Object.fromEntries(new URLSearchParams(hash.slice(1)));
  return members["attempt_id"] && members["attempt_token"] ? (members as unknown as WindowFragment) : undefined;
}

type Origins = Pick<Boot, "api_mode" | "allowed_origins">;

/** Explains to developers why popup mode doesn't work. */
export const noPopupMode =
  "Popup mode works only from the organisation's registered origins, and only if the page sends its origin as the referrer.";

/** Reports whether popup mode is unavailable on all pages. */
export function lacksOrigins({ api_mode, allowed_origins }: Origins): boolean {
  return api_mode === "live" && allowed_origins.length === 0;
}

/**
 * Reports whether the older element's window may use the attempt in its fragment. The creator of the window's URL
 * learns the attempt's outcome, so the URL must come from one of the organisation's pages, not from an arbitrary link.
 * A page can't forge another origin as its referrer (docs/develop/threats-sign-in.md). In test mode, an organisation
 * need not register origins.
 */
export function mayTake({ api_mode, allowed_origins }: Origins, referrer: string): boolean {
  if (allowed_origins.length === 0) return !lacksOrigins({ api_mode, allowed_origins });
  return URL.canParse(referrer) && allowed_origins.includes(new URL(referrer).origin);
}

/**
 * Returns the hash of the token that the element created. The server receives only the hash, so that a reader of the
 * server's data can't poll the attempt.
 */
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

/**
 * Returns a hosted page's configuration. The page starts with the splash, since nothing else introduces the service. A
 * reconnect skips the splash.
 */
export function pageConfig({ public_id, query }: Boot, fragment: WindowFragment | undefined): Config {
  const source = fragment ?? query;
  const given = Object.entries(names).flatMap(([key, name]) => (source[name] ? [[key, source[name]]] : []));
  const showSplash = !source.reconnect_org_connection_id;
  return {
    publicId: public_id,
    searchOnly: false,
    showSplash,
    tefcaMode: false,
    eventTypes: [],
    ...Object.fromEntries(given),
  };
}
