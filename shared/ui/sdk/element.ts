/**
 * svc-widget-element: a button, and a modal that shows the service's page in a frame. The element reports everything
 * through one event, eventBus.
 */
import type { Connection, Mode, Payload } from "../kit/protocol.ts";
import { config, ELEMENT_BOOLEANS, ELEMENT_STRINGS, reflect, type Reflected } from "./attributes.ts";
import { addressOf, emit, mistakeOf, SANDBOXED, warn, WidgetBase } from "./base.ts";
import { makeFrame, type Frame, type Heard } from "./frame.ts";
import { makeModal } from "./modal.ts";
import { wordsOf } from "./words.ts";

export interface SvcWidgetElement extends Reflected<
  (typeof ELEMENT_STRINGS)[number],
  (typeof ELEMENT_BOOLEANS)[number]
> {}

export class SvcWidgetElement extends WidgetBase {
  static readonly observedAttributes: readonly string[] = [...ELEMENT_STRINGS, ...ELEMENT_BOOLEANS];

  readonly #modal = makeModal(
    // A responsive frame decides whether to close. An unresponsive frame can't prevent closing by a third click on the close button.
    (byButton, byBackdrop) => {
      if (byBackdrop && this.staticBackdrop) return;
      if (byButton) this.#presses++;
      if (this.#presses > 2 || !this.#shown?.send({ type: "close" })) this.#end();
    },
    () => this.#load(),
    () => this.#end(),
  );
  #isOpen = false;
  #mode: Mode = "test";
  #shown: Frame | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether the frame has reported that the visit ended. */
  #completed = false;
  #connections = new Map<string, Connection>();
  /** The number of clicks on the close button since the frame's last message. */
  #presses = 0;
  /** A preloaded frame (preload="hover"). */
  #ahead: Frame | undefined;

  constructor() {
    super();
    this.button.ariaHasPopup = "dialog";
    this.root.append(this.#modal.element);
    for (const hint of ["pointerenter", "focusin"]) {
      this.addEventListener(hint, () => {
        if (this.preload === "hover" && !this.#isOpen && !mistakeOf(this)) this.#ahead ??= this.#frame();
      });
    }
  }

  /** Opens the modal. Has no effect if the modal is open or the element is disconnected. */
  show(): void {
    if (this.#isOpen || !this.isConnected) return;
    this.#isOpen = true;
    this.#mode = /_live_/.test(this.publicId) ? "live" : "test";
    this.#completed = false;
    this.#connections.clear();
    this.#presses = 0;
    this.#modal.open();
    // Sandbox flags are visible only to a page of the same origin. On other pages, our frame detects the sandbox when no window opens.
    const sandbox = (frameElement as HTMLIFrameElement | null)?.sandbox;
    const mistake = mistakeOf(this) || (sandbox?.length && !sandbox.contains("allow-popups") && `${SANDBOXED}popups`);
    if (!mistake) return this.#load();
    this.#modal.show(mistake, false);
    this.#emit({ api_mode: this.#mode, event_type: "widget.config_error" }, mistake);
    this.#report("config");
  }

  /** Closes the modal immediately, even if the patient has not finished. */
  hide(): void {
    this.#end();
  }

  disconnectedCallback(): void {
    this.#end();
    this.#forget();
  }

  override attributeChangedCallback(): void {
    super.attributeChangedCallback();
    this.#forget();
  }

  protected override say(): void {
    super.say();
    this.#modal.name(wordsOf(this));
  }

  #frame(): Frame {
    const frame = makeFrame(
      addressOf(this, "embed"),
      () => ({ config: config(this) }),
      (message) => this.#receive(message),
    );
    frame.element.title = wordsOf(this).title;
    this.#modal.element.append(frame.element);
    return frame;
  }

  #forget(): void {
    this.#ahead?.remove();
    this.#ahead = undefined;
  }

  #load(): void {
    this.#shown?.remove();
    this.#modal.hide();
    this.#shown = this.#ahead ?? this.#frame();
    this.#ahead = undefined;
    this.#shown.open();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fail("timeout"), navigator.onLine ? 15_000 : 2_000);
  }

  /** Shows that the frame failed to load. A frame that becomes ready later replaces the error. */
  #fail(reason: string): void {
    clearTimeout(this.#timer);
    this.#modal.show(wordsOf(this).network);
    this.#report(navigator.onLine ? reason : "offline");
  }

  /** Emits widget.load_error if the page opted in. */
  #report(reason: string): void {
    if (/widget.load_error/.test(this.eventTypes))
      this.#emit({ api_mode: this.#mode, event_type: "widget.load_error", data: { reason } });
  }

  #receive(message: Heard): void {
    if (!this.#isOpen) return this.#forget(); // a preloaded frame is broken, and show() will load a new frame
    if (message.type === "broken") return this.#fail(message.reason);
    this.#presses = 0;
    if (message.type === "ready") {
      clearTimeout(this.#timer);
      this.#modal.hide();
      this.#shown?.element.focus();
    } else if (message.type === "event") {
      const { payload } = message;
      this.#mode = payload.api_mode;
      if (payload.event_type === "widget.complete") this.#completed = true;
      if (payload.event_type === "patient.connection_success")
        this.#connections.set(payload.data.org_connection_id, payload.data);
      this.#emit(payload, message.reason);
    } else if (message.type === "closed") this.#end();
  }

  #end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.#shown?.remove();
    this.#modal.close();
    // Safari doesn't focus a clicked button, so the dialog can't restore the focus.
    if ([this, document.body].includes(document.activeElement as HTMLElement)) this.trigger.focus();
    if (!this.#completed)
      this.#emit({ api_mode: this.#mode, event_type: "widget.complete", data: [...this.#connections.values()] });
    this.#emit({ api_mode: this.#mode, event_type: "widget.close", data: {} });
  }

  #emit(payload: Payload, reason?: string): void {
    // Older pages call JSON.parse(event.detail.data).
    if ("data" in payload) Object.defineProperty(payload.data, "toString", { value: () => JSON.stringify(payload) });
    else if (payload.api_mode === "test") warn(this, reason);
    emit(this, "eventBus", payload);
  }
}

reflect(SvcWidgetElement);
