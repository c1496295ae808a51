/**
 * svc-widget, the older element. In redirect mode, it redirects the patient to the service's page. In popup mode, it
 * opens that page in a window and reports the result through one event, orgConnectionCallback. The element does not
 * depend on window messages: it creates the attempt's ID and token, and a hidden frame polls the server, so that a
 * severed window loses no result.
 */
import type { Callback, WindowFragment } from "../kit/protocol.ts";
import { baseOf, parameters } from "./address.ts";
import { config, OLDER_STRINGS, passed, reflect, type Reflected } from "./attributes.ts";
import { addressOf, emit, mistakeOf, warn, WidgetBase } from "./base.ts";
import { makeFrame } from "./frame.ts";
import { attemptID, attemptToken } from "./random.ts";
import { languageOf } from "./words.ts";

/** Reports whether the patient has just clicked. Returns undefined if the browser can't report clicks. */
const isActive = (): boolean | undefined => navigator.userActivation?.isActive;

/**
 * How many seconds the page may have the focus while the window looks closed. A window that hasn't left for the portal
 * is closed. A window that has left may only be disconnected by the portal, and the patient may return to the window.
 */
const CLOSED = 3;
const LOST = 60;

export interface SvcWidget extends Reflected<(typeof OLDER_STRINGS)[number]> {}

export class SvcWidget extends WidgetBase {
  static readonly observedAttributes: readonly string[] = OLDER_STRINGS;

  /** Each attempt's window, by the function that ends the attempt. */
  readonly #attempts = new Map<() => void, Window | null>();

  /** Redirects the patient. In popup mode, opens a window unless a window is known to be open. */
  show(): void {
    const mistake = mistakeOf(this);
    if (mistake) this.#refuse(mistake);
    else if (this.connectMode === "popup") this.#open();
    else {
      const query = {
        public_id: this.publicId,
        redirect_uri: this.redirectUri,
        ...passed(this),
        lang: languageOf(this),
      };
      location.assign(`${baseOf(this)}/bridge/connect?${parameters(query)}`);
    }
  }

  /** Closes the window and stops polling. */
  hide(): void {
    for (const [end, popup] of this.#attempts) {
      popup?.close();
      end();
    }
  }

  disconnectedCallback(): void {
    for (const end of this.#attempts.keys()) end();
  }

  #open(): void {
    for (const popup of this.#attempts.values()) {
      if (popup && !popup.closed) return popup.focus();
    }
    const attemptId = attemptID();
    const watch = { attemptId, attemptToken: attemptToken() };
    const fragment: WindowFragment = { ...passed(this), attempt_id: attemptId, attempt_token: watch.attemptToken };
    const address = `${addressOf(this, "connect")}#${parameters({ ...fragment })}`;
    const wasActive = isActive();
    const popup = open(address, `svc-${attemptId}`, "popup,width=520,height=720");
    // A window that opens without a handle still consumes the click. If the click is not consumed, no window opened.
    if (!popup && wasActive != null && wasActive === isActive())
      return this.#fail("The browser didn't open a window. A sandboxed frame needs allow-popups.", attemptId);
    let patience = LOST;
    let seconds = 0;
    const frame = makeFrame(
      addressOf(this, "embed"),
      () => ({ config: config(this), watch }),
      (message) => {
        if (!message.type) {
          if (message.attemptId === attemptId) patience = message.made ? LOST : CLOSED;
        } else if (message.type === "result") {
          end();
          emit(this, "orgConnectionCallback", message.callback);
        }
      },
    );
    const minutes = +this.popupTimeout; // 30 if it is missing or not less than a day
    const expiry = Date.now() + (minutes > 0 && minutes < 1_440 ? minutes : 30) * 60_000;
    const clock = setInterval(() => {
      seconds = popup?.closed !== false && document.hasFocus() ? seconds + 1 : 0;
      const isLate = Date.now() >= expiry;
      if (!isLate && seconds < patience) return;
      popup?.close();
      end();
      this.#fail(`The patient ${isLate ? "did not finish within popup-timeout" : "closed the window"}.`, attemptId);
    }, 1_000);
    const end = (): void => {
      clearInterval(clock);
      frame.remove();
      this.#attempts.delete(end);
    };
    this.#attempts.set(end, popup);
    frame.element.hidden = true;
    this.root.append(frame.element);
    frame.open();
  }

  /** Reports a configuration error. In redirect mode, the error is also reported as an event, because there is no URL to redirect to. */
  #refuse(reason: string): void {
    warn(this, reason);
    this.#fail(`The widget is misconfigured: ${reason}.`, attemptID());
  }

  /** Reports a failure that the server does not know about, with a locally created ID. */
  #fail(description: string, requestId: string): void {
    const detail: Callback = {
      error: "svc_invalid_request",
      error_description: description,
      request_id: requestId,
      ...(this.externalState && { external_state: this.externalState }),
    };
    emit(this, "orgConnectionCallback", detail);
  }
}

reflect(SvcWidget);
