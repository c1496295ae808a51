/**
 * The frame of a third-party client (docs/reference/compatibility.md). Its URL contains the element's attributes as a
 * query, and its page expects window messages with events as JSON text.
 */
import type { Config, FromFrame, Mode } from "../kit/protocol.ts";

/** Reports whether a frame's URL is from such a client: our own URLs contain public_id, theirs public-id. */
export const isDirect = (query: URLSearchParams): boolean => query.has("public-id");

/** Returns the configuration in the query, whose parameters are attributes. It ignores an email address in a URL. */
export function directConfig(query: URLSearchParams): Config {
  const named = Object.fromEntries([...query].map(([name, value]) => [name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()), value]));
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

/** Returns a function that posts events to the parent page. If origins are registered, only those receive them. */
export function tellHolder(parent: Pick<Window, "postMessage">, holder: string | undefined, origins: string[], mode: Mode): (message: FromFrame) => void {
  let targets = origins.length > 0 ? origins : ["*"];
  if (holder && origins.includes(holder)) targets = [holder];
  return (message) => {
    const payload = message.type === "event" ? message.payload : message.type === "closed" && { api_mode: mode, event_type: "widget.close", data: {} };
    if (payload) for (const target of targets) parent.postMessage(JSON.stringify(payload), target);
  };
}
