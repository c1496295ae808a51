/** Where our pages are. */

/** The base URL of the service that this script comes from: <base>/sdk/<version>/svc-widget.js. "" from elsewhere, as out of a customer's bundle. */
const OWN = /^(https?:.+)\/sdk\/[^/]+\/svc-widget\.js/.exec(import.meta.url)?.[1] ?? "";

/** The base URL of an element, without a slash at its end; "" where it is missing or not one. */
export function baseOf(element: Pick<Element, "getAttribute">): string {
  try {
    const { origin, pathname } = new URL(element.getAttribute("base-url") || OWN);
    return /^http/.test(origin) ? origin + pathname.replace(/\/$/, "") : "";
  } catch {
    return "";
  }
}

/** The parameters as a query or a fragment, without those that are empty. */
export const parameters = (values: Record<string, string>): string => `${new URLSearchParams(Object.entries(values).filter(([, value]) => value))}`;
