/**
 * The frame with the service's page, and the channel to the frame (kit/protocol.ts). The channel trusts only this
 * frame's window and origin. After the first message, all messages use a private port.
 */
import type { FromFrame, Hello, Here, Init, ToFrame } from "../kit/protocol.ts";
import { make } from "./make.ts";

/** The frame shows something other than our page. */
export interface Broken {
  type: "broken";
  reason: "blocked" | "unreachable";
}

export interface Frame {
  /** The iframe, which loads after it is added to the document. */
  element: HTMLIFrameElement;
  /**
   * Allows the configuration to be sent. The configuration is sent immediately or, if the frame has not yet sent its
   * hello, after the hello.
   */
  open(): void;
  /** Sends a message over the port, and returns the number of ports: 0 before the frame has its configuration, and after its removal. */
  send(message: ToFrame): number;
  remove(): void;
}

/** A message to an element: from the element's frame, from a popup, or about a broken frame. */
export type Heard = FromFrame | Broken | (Here & { type?: undefined });

/** Creates a frame for a URL. told is called when the configuration is sent. */
export function makeFrame(
  address: string,
  told: () => Omit<Init, "svc" | "v">,
  receive: (message: Heard) => void,
): Frame {
  const expected = new URL(address).origin;
  const element = make("iframe", { src: address, allow: "clipboard-write", referrerPolicy: "strict-origin" }, "frame");
  const ports: MessagePort[] = [];
  const listening = new AbortController();
  let reason: Broken["reason"] = "unreachable";
  let hasSaidHello = false;
  let mayAnswer = false;

  /**
   * Sends the configuration with a new port. A frame repeats its hello until it receives the configuration, and says
   * hello again after a reload. The frame keeps the first port that it receives, so the active port is unknown.
   */
  const introduce = (): void => {
    if (!hasSaidHello || !mayAnswer) return;
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = (event: MessageEvent<FromFrame>) => receive(event.data);
    ports.push(port1);
    element.contentWindow?.postMessage({ svc: "init", v: 1, ...told() } satisfies Init, expected, [port2]);
  };

  const send = (message: ToFrame): number => ports.map((port) => port.postMessage(message)).length;

  /** Handles hello, popups' messages, and violations of the page's policy, which contain only a blocked frame's origin. A frame identifies its own windows. */
  const greet = ({
    origin,
    source,
    data,
    blockedURI,
  }: Partial<MessageEvent<Hello | Here | null> & SecurityPolicyViolationEvent>): void => {
    if (blockedURI?.startsWith(expected)) reason = "blocked";
    if (origin !== expected) return;
    if (data?.svc === "here") {
      send(data);
      receive(data);
    }
    if (source === element.contentWindow && data?.svc === "hello" && data.v === 1) {
      hasSaidHello = true;
      introduce();
    }
  };
  for (const type of ["message", "securitypolicyviolation"]) addEventListener(type, greet as EventListener, listening);
  // Our page says hello before its load event. For a blocked or failed frame, Chromium and WebKit fire load, and Firefox fires error. WebKit fires nothing if a server is unreachable.
  element.onload = element.onerror = () =>
    setTimeout(() => hasSaidHello || !element.isConnected || receive({ type: "broken", reason }), 1_000);

  return {
    element,
    open() {
      mayAnswer = true;
      introduce();
    },
    send,
    remove() {
      listening.abort();
      ports.splice(0).map((port) => port.close());
      element.remove();
    },
  };
}
