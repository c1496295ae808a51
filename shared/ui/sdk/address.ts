/** URLs of the service's pages. */

/**
 * The base URL of the service that served this script: <base>/sdk/<version>/svc-widget.js. The base URL is "" if the
 * script has a different URL, such as the URL of a customer's bundle.
 */
const OWN = /^(http.+)\/sdk\/[^/]+\/svc-/.exec(import.meta.url)?.[1] ?? "";

/** Returns an element's base URL without a trailing slash, or "" if the base URL is missing or invalid. */
export function baseOf(element: Pick<Element, "getAttribute">): string {
  try {
    const { origin, pathname } = new URL(element.getAttribute("base-url") || OWN);
    return /^http/.test(origin) ? origin + pathname.replace(/\/$/, "") : "";
  } catch {
    return "";
  }
}

/** Returns the parameters as a query or fragment. Empty parameters are omitted. */
export const parameters = (values: Record<string, string>): string =>
  `${new URLSearchParams(Object.entries(values).filter(([, value]) => value))}`;
