/** Forwards events as JSON to the app around a web view, through every bridge that the web view has. */
import type { Payload } from "../kit/protocol.ts";

/** Bridges of web views: React Native, WKWebView with a handler named svc, and flutter_inappwebview. */
interface Bridges {
  ReactNativeWebView?: { postMessage(text: string): void };
  webkit?: { messageHandlers?: { svc?: { postMessage(text: string): void } } };
  flutter_inappwebview?: { callHandler(name: string, text: string): unknown };
}

export function tellBridges(host: object, payload: Payload): void {
  const bridges: Bridges = host;
  const text = JSON.stringify(payload);
  const tell = [
    () => bridges.ReactNativeWebView?.postMessage(text),
    () => bridges.webkit?.messageHandlers?.svc?.postMessage(text),
    () => bridges.flutter_inappwebview?.callHandler("svc", text),
  ];
  for (const one of tell) {
    try {
      one();
    } catch {
      // A failing bridge must not block the patient.
    }
  }
}
