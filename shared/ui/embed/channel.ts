/** The frame's end of the channel to the customer's page (kit/protocol.ts). */
import type { FromFrame, Hello, Here, Init, ToFrame } from "../kit/protocol.ts";

/** Handlers of the page's messages. */
export interface Listener {
  begin(init: Init, origin: string): void; // the page's configuration and origin
  close(): void;
  here(said: Here): void; // from the older element's window
  foreign(): void; // an unregistered page embeds the frame
}

/** The interval in milliseconds between repeated hello messages. A parent that is still loading misses the first message. */
export const again = 500;

/**
 * Announces the frame to its parent page, and accepts the page's configuration once. A page can't forge the message's
 * origin. If the organisation has registered origins, the message's origin must match one of these origins exactly, or
 * be the service's own origin (the playground).
 */
export function listen(
  parent: Window,
  self: Window,
  origins: string[],
  listener: Listener,
): (message: FromFrame) => void {
  let port: MessagePort | undefined;
  const hello: Hello = { svc: "hello", v: 1 };
  const timer = self.setInterval(() => parent.postMessage(hello, "*"), again);
  parent.postMessage(hello, "*");

  self.addEventListener("message", function first({ source, origin, data, ports }: MessageEvent<unknown>) {
    const [end] = ports;
    if (source !== parent || !isInit(data) || !end) return;
    self.removeEventListener("message", first);
    self.clearInterval(timer);
    if (origins.length > 0 && origin !== self.location.origin && !origins.includes(origin)) return listener.foreign();
    port = end;
    port.onmessage = (event: MessageEvent<ToFrame | null>) => {
      const said = event.data;
      if (said && "svc" in said) listener.here(said);
      else if (said?.type === "close") listener.close();
    };
    listener.begin(data, origin);
  });
  return (message) => port?.postMessage(message);
}

function isInit(data: unknown): data is Init {
  return (
    typeof data === "object" &&
    data !== null &&
    "svc" in data &&
    data.svc === "init" &&
    "v" in data &&
    data.v === 1 &&
    "config" in data
  );
}
