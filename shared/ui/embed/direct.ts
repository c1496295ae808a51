/**
 * The frame of a third-party client (docs/reference/compatibility.md). The frame's URL contains the element's
 * attributes as a query. The client's page expects window messages that contain events as JSON text.
 */
import type { Config, FromFrame, Mode } from "../kit/protocol.ts";

/** Reports whether a frame's URL is from a third-party client. Such a URL contains public-id; the service's own URLs contain public_id. */
export const isDirect = (query: URLSearchParams): boolean => query.has("public-id");

/** Returns the configuration in the query, whose parameters are attributes. An email address in the URL is ignored. */
export function directConfig(query: URLSearchParams): Config {
  const named = Object.fromEntries(
    [...query].map(([name, value]) => [name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()), value]),
  );
  const isOn = (name: string): boolean => (named[name] ?? "false") !== "false";
  const { email: _, eventTypes = "", ...strings } = named;
  return {
    ...(strings as { publicId: string }),
    searchOnly: isOn("searchOnly"),
    showSplash: isOn("showSplash"),
    tefcaMode: isOn("tefcaMode"),
    eventTypes: eventTypes.split(","),
  };
}

/**
 * Returns a function that posts events to the parent page. If the organisation has registered origins, only pages of
 * these origins receive events.
 */
export function tellHolder(
  parent: Pick<Window, "postMessage">,
  holder: string | undefined,
  origins: string[],
  mode: Mode,
): (message: FromFrame) => void {
  let targets = origins.length > 0 ? origins : ["*"];
  if (holder && origins.includes(holder)) targets = [holder];
  return (message) => {
    const payload =
      message.type === "event"
        ? message.payload
        : message.type === "closed" && { api_mode: mode, event_type: "widget.close", data: {} };
    if (payload) for (const target of targets) parent.postMessage(JSON.stringify(payload), target);
  };
}
