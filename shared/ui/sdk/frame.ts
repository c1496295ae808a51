/**
 * The frame with our page, and the channel to it (kit/protocol.ts). It trusts only this frame's window and origin;
 * after the first message everything uses a private port.
 */
import type { FromFrame, Hello, Here, Init, ToFrame } from "../kit/protocol.ts";
import { make } from "./make.ts";

export interface Frame {
  /** Loads once it is in the document. */
  element: HTMLIFrameElement;
  /** Sends the configuration on the frame's hello, or immediately after it. */
  answer(): void;
  /** Sends a message over the port, and reports whether there is one. */
  send(message: ToFrame): boolean;
  remove(): void;
}

/** Creates a frame for a URL. told is called when the configuration is sent. */
export function makeFrame(address: string, told: () => Omit<Init, "svc" | "v">, receive: (message: FromFrame) => void): Frame {
  const expected = new URL(address).origin;
  const element = make("iframe", { src: address, allow: "clipboard-write", referrerPolicy: "strict-origin" }, "frame");
  const ports: MessagePort[] = [];
  let hasSaidHello = false;
  let mayAnswer = false;

  /** A frame says hello until it is answered, and again after a reload. It keeps the first port it receives, so the active one is unknown. */
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

  /** The frame identifies its own windows. */
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
