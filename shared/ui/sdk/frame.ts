/**
 * Our page in a frame, and the channel to it (kit/protocol.ts). Nothing is believed but what comes from this frame's window and the origin of its
 * address; after the first message all goes over a port that nobody else holds.
 */
import type { FromFrame, Hello, Here, Init, ToFrame } from "../kit/protocol.ts";
import { make } from "./make.ts";

export interface Frame {
  /** Loads as soon as it is in the document. */
  element: HTMLIFrameElement;
  /** Tells the frame what it needs, as soon as it says hello; at once where it has. */
  answer(): void;
  /** Sends over the port, and says whether there is one. */
  send(message: ToFrame): boolean;
  remove(): void;
}

/** A frame for an address. What it is told is asked for when it is told. */
export function makeFrame(address: string, told: () => Omit<Init, "svc" | "v">, receive: (message: FromFrame) => void): Frame {
  const expected = new URL(address).origin;
  const element = make("iframe", { src: address, allow: "clipboard-write", referrerPolicy: "strict-origin" }, "frame");
  const ports: MessagePort[] = [];
  let hasSaidHello = false;
  let mayAnswer = false;

  /** A frame says hello until it is answered, and again when it has loaded anew: it keeps the first port that reaches it, and nobody knows which. */
  const introduce = (): void => {
    if (!hasSaidHello || !mayAnswer) return;
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = (event: MessageEvent<FromFrame>) => receive(event.data);
    ports.push(port1);
    const init: Init = { svc: "init", v: 1, ...told() };
    element.contentWindow?.postMessage(init, expected, [port2]);
  };

  const send = (message: ToFrame): boolean => {
    for (const port of ports) port.postMessage(message);
    return ports.length > 0;
  };

  /** The frame knows which window is its own. */
  const greet = ({ origin, source, data }: MessageEvent<Hello | Here | null>): void => {
    if (origin !== expected) return;
    if (data?.svc === "here") send(data);
    if (source !== element.contentWindow || data?.svc !== "hello" || data.v !== 1) return;
    hasSaidHello = true;
    introduce();
  };
  addEventListener("message", greet);

  return {
    element,
    answer() {
      mayAnswer = true;
      introduce();
    },
    send,
    remove() {
      removeEventListener("message", greet);
      for (const port of ports) port.close();
      element.remove();
    },
  };
}
