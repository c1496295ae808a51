/**
 * svc-widget, the older element: redirects the patient to our page (redirect mode), or opens it in a window and reports
 * the result by one event, orgConnectionCallback (popup mode). It does not depend on window messages: the element
 * creates the attempt's ID and token, and a hidden frame polls our server, so that a severed window loses nothing.
 */
import type { Callback, FromFrame, WindowFragment } from "../kit/protocol.ts";
import { parameters } from "./address.ts";
import { config, OLDER_STRINGS, passed, reflect, type Reflected } from "./attributes.ts";
import { WidgetBase } from "./base.ts";
import { makeFrame, type Frame } from "./frame.ts";
import { attemptID, attemptToken } from "./random.ts";

/** Returns popup-timeout in minutes, or the default if it is missing or out of range. */
const DEFAULT_TIMEOUT = 30;
const DAY = 1_440;

/** Reports whether the patient has just clicked; undefined if the browser can't tell. */
const isActive = (): boolean | undefined => navigator.userActivation?.isActive;

/** An open window, until its result is known. */
interface Attempt {
  popup: Window | null;
  frame: Frame;
  timer: ReturnType<typeof setTimeout>;
}

export interface SvcWidget extends Reflected<(typeof OLDER_STRINGS)[number]> {}

export class SvcWidget extends WidgetBase {
  static readonly observedAttributes: readonly string[] = [...OLDER_STRINGS, "lang"];

  readonly #attempts = new Set<Attempt>();

  /** Redirects the patient; in popup mode it opens a window unless one is known to be open. */
  show(): void {
    if (this.mistake) this.#refuse(this.mistake);
    else if (this.connectMode === "popup") this.#open();
    else {
      const query = { public_id: this.publicId, redirect_uri: this.redirectUri, ...passed(this), lang: this.language };
      location.assign(`${this.base}/bridge/connect?${parameters(query)}`);
    }
  }

  /** Closes the window and stops polling. */
  hide(): void {
    for (const attempt of this.#attempts) {
      attempt.popup?.close();
      this.#end(attempt);
    }
  }

  disconnectedCallback(): void {
    for (const attempt of this.#attempts) this.#end(attempt);
  }

  #open(): void {
    for (const { popup } of this.#attempts) {
      if (popup && !popup.closed) return popup.focus();
    }
    const attemptId = attemptID();
    const watch = { attemptId, attemptToken: attemptToken() };
    const fragment: WindowFragment = { ...passed(this), attempt_id: attemptId, attempt_token: watch.attemptToken };
    const address = `${this.address("connect")}#${parameters({ ...fragment })}`;
    const wasActive = isActive();
    const popup = open(address, `svc-${attemptId}`, "popup,width=520,height=720");
    // A window that opens without a handle still consumes the click; otherwise none opened.
    if (!popup && wasActive !== undefined && wasActive === isActive()) return this.#fail("The browser didn't open a window. A sandboxed frame needs allow-popups.", attemptId);
    const frame = makeFrame(
      this.address("embed"),
      () => ({ config: config(this, this.language), watch }),
      (message) => this.#receive(attempt, message),
    );
    const minutes = Number(this.popupTimeout);
    const timer = setTimeout(() => this.#expire(attempt, attemptId), (minutes > 0 && minutes < DAY ? minutes : DEFAULT_TIMEOUT) * 60_000);
    const attempt: Attempt = { popup, frame, timer };
    this.#attempts.add(attempt);
    frame.element.hidden = true;
    this.root.append(frame.element);
    frame.answer();
  }

  #receive(attempt: Attempt, message: FromFrame): void {
    if (message.type !== "result" || !this.#attempts.has(attempt)) return;
    this.#end(attempt);
    this.emit("orgConnectionCallback", message.callback);
  }

  #expire(attempt: Attempt, attemptId: string): void {
    attempt.popup?.close();
    this.#end(attempt);
    this.#fail("The patient did not finish within popup-timeout.", attemptId);
  }

  /** Reports a configuration error, also in redirect mode, since there is no URL to redirect to. */
  #refuse(reason: string): void {
    this.warn(reason);
    this.#fail(`The widget is misconfigured: ${reason}.`, attemptID());
  }

  /** Reports a failure that no server knows, with a locally created ID. */
  #fail(description: string, requestId: string): void {
    const state = this.externalState;
    const detail: Callback = { error: "svc_invalid_request", error_description: description, request_id: requestId, ...(state && { external_state: state }) };
    this.emit("orgConnectionCallback", detail);
  }

  #end(attempt: Attempt): void {
    clearTimeout(attempt.timer);
    attempt.frame.remove();
    this.#attempts.delete(attempt);
  }
}

reflect(SvcWidget.prototype, OLDER_STRINGS);
