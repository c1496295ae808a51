/** svc-widget-element: a button and a modal with our page in a frame. It reports everything by one event, eventBus. */
import type { Connection, FromFrame, Mode, Payload } from "../kit/protocol.ts";
import { config, ELEMENT_BOOLEANS, ELEMENT_STRINGS, reflect, type Reflected } from "./attributes.ts";
import { WidgetBase } from "./base.ts";
import { makeFrame, type Frame } from "./frame.ts";
import { makeModal } from "./modal.ts";

/** How long the frame may take before an error is shown, in milliseconds. A page's frame-src can block it without notice. */
const PATIENCE = 15_000;

/** After this many unanswered clicks on the close button, the modal closes anyway. */
const URGENT = 3;

/** State between opening and closing. */
interface Visit {
  frame?: Frame;
  timer?: ReturnType<typeof setTimeout>;
  mode: Mode;
  /** Whether nothing had the focus: Safari doesn't focus a clicked button, so the dialog can't restore the focus. */
  fromNowhere: boolean;
  /** Whether the frame has reported the end. */
  completed: boolean;
  connections: Map<string, Connection>;
  /** Clicks on the close button since the frame's last message. */
  presses: number;
}

export interface SvcWidgetElement extends Reflected<(typeof ELEMENT_STRINGS)[number], (typeof ELEMENT_BOOLEANS)[number]> {}

export class SvcWidgetElement extends WidgetBase {
  static readonly observedAttributes: readonly string[] = [...ELEMENT_STRINGS, ...ELEMENT_BOOLEANS, "lang"];

  readonly #modal = makeModal({
    close: (byButton) => this.#asked(byButton),
    retry: () => this.#load(),
    closed: () => this.#end(),
    isStatic: () => this.staticBackdrop,
  });
  #visit: Visit | undefined;
  /** A preloaded frame (preload="hover"). */
  #ahead: Frame | undefined;

  constructor() {
    super();
    this.button.ariaHasPopup = "dialog";
    this.root.append(this.#modal.element);
    for (const hint of ["pointerenter", "focusin"]) this.addEventListener(hint, () => this.#hinted());
  }

  /** Opens the modal. It does nothing if the modal is open or the element is disconnected. */
  show(): void {
    if (this.#visit || !this.isConnected) return;
    this.#visit = {
      mode: /^(public_test_|$)/.test(this.publicId) ? "test" : "live",
      fromNowhere: document.activeElement === document.body,
      completed: false,
      connections: new Map(),
      presses: 0,
    };
    this.#modal.open();
    if (this.mistake) this.#refuse(this.mistake);
    else this.#load();
  }

  /** Closes the modal immediately, whatever the patient is doing. */
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
    this.#modal.name(this.words);
  }

  #frame(): Frame {
    const frame = makeFrame(
      this.address("embed"),
      () => ({ config: config(this, this.language) }),
      (message) => this.#receive(message),
    );
    frame.element.title = this.words.title;
    this.#modal.element.append(frame.element);
    return frame;
  }

  #hinted(): void {
    if (this.preload === "hover" && !this.#visit && !this.mistake) this.#ahead ??= this.#frame();
  }

  #forget(): void {
    this.#ahead?.remove();
    this.#ahead = undefined;
  }

  #load(): void {
    const visit = this.#visit;
    if (!visit) return;
    visit.frame?.remove();
    this.#modal.tell("");
    visit.frame = this.#ahead ?? this.#frame();
    this.#ahead = undefined;
    visit.frame.answer();
    clearTimeout(visit.timer);
    visit.timer = setTimeout(() => this.#modal.tell(this.words.failed, true), PATIENCE);
  }

  /** Reports a configuration error that no frame can show. */
  #refuse(reason: string): void {
    this.#modal.tell(`${this.words.unusable} (${reason})`);
    this.#emit({ api_mode: this.#visit?.mode ?? "test", event_type: "widget.config_error" }, reason);
  }

  #receive(message: FromFrame): void {
    const visit = this.#visit;
    if (!visit) return;
    visit.presses = 0;
    if (message.type === "ready") {
      clearTimeout(visit.timer);
      this.#modal.tell("");
      visit.frame?.element.focus();
    } else if (message.type === "event") {
      const { payload } = message;
      visit.mode = payload.api_mode;
      if (payload.event_type === "widget.complete") visit.completed = true;
      if (payload.event_type === "patient.connection_success") visit.connections.set(payload.data.org_connection_id, payload.data);
      this.#emit(payload, message.reason);
    } else if (message.type === "closed") this.#end();
  }

  /** The patient wants to close. A responsive frame decides; an unresponsive one doesn't block closing. */
  #asked(byButton: boolean): void {
    const visit = this.#visit;
    if (!visit) return;
    if (byButton) visit.presses++;
    if (visit.presses >= URGENT || !visit.frame?.send({ type: "close" })) this.#end();
  }

  #end(): void {
    const visit = this.#visit;
    if (!visit) return;
    this.#visit = undefined;
    clearTimeout(visit.timer);
    visit.frame?.remove();
    this.#modal.close();
    if (visit.fromNowhere) this.trigger.focus();
    if (!visit.completed) this.#emit({ api_mode: visit.mode, event_type: "widget.complete", data: [...visit.connections.values()] });
    this.#emit({ api_mode: visit.mode, event_type: "widget.close", data: {} });
  }

  #emit(payload: Payload, reason?: string): void {
    // Older pages call JSON.parse(event.detail.data).
    if ("data" in payload) Object.defineProperty(payload.data, "toString", { value: () => JSON.stringify(payload) });
    else if (payload.api_mode === "test") this.warn(reason);
    this.emit("eventBus", payload);
  }
}

reflect(SvcWidgetElement.prototype, ELEMENT_STRINGS, ELEMENT_BOOLEANS);
