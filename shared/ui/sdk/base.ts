/**
 * The base class of both elements. An element is a default button or a slotted button that opens the widget. The class
 * also exists without a DOM, so that a server can import the module.
 */
import { baseOf, parameters } from "./address.ts";
import { adoptEarly, type Reflected } from "./attributes.ts";
import { make } from "./make.ts";
import css from "./style.css";
import { languageOf, wordsOf } from "./words.ts";

const Parent = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

export interface WidgetBase extends Reflected<"public-id" | "base-url"> {}

export abstract class WidgetBase extends Parent {
  protected readonly root = this.attachShadow({ mode: "open" });
  readonly #slot = make("slot");
  readonly #label = make("span", {}, "label");
  protected readonly button = make("button", {}, "button", this.#label);

  constructor() {
    super();
    // A constructed sheet does not require style-src.
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    this.root.adoptedStyleSheets = [sheet];
    this.root.append(this.button);
    this.#slot.addEventListener("slotchange", () => this.#arrange());
    this.addEventListener("click", (event) => this.#clicked(event));
  }

  abstract show(): void;
  abstract hide(): void;

  /** Updates all texts to the current language. */
  protected say(): void {
    this.#label.textContent = wordsOf(this).title;
  }

  /** The trigger to which the focus returns: a slotted button or link, or the default button. */
  protected get trigger(): HTMLElement {
    return this.querySelector<HTMLElement>("button, a, [role=button]") ?? this.button;
  }

  connectedCallback(): void {
    adoptEarly(this);
    this.say();
    this.#arrange();
  }

  attributeChangedCallback(): void {
    this.say();
  }

  /** Places the slot. A slotted button must not be nested in the default button. */
  #arrange(): void {
    const isOurs = this.trigger === this.button;
    const place = isOurs ? this.button : this.root;
    if (this.#slot.parentNode !== place) place.append(this.#slot);
    this.button.hidden = !isOurs;
    // White space counts as slotted content, so a slot's fallback content would leave the button without a name.
    this.#label.hidden = this.#slot.assignedNodes().some((node) => node.nodeType === 1 || node.nodeValue?.trim());
  }

  #clicked(event: Event): void {
    if (!event.composedPath().includes(this.trigger)) return;
    event.preventDefault();
    this.show();
  }
}

/** Returns the URL of one of our pages, without personal data, which is sent over the port or in a fragment. */
export const addressOf = (element: WidgetBase, page: "embed" | "connect"): string =>
  `${baseOf(element)}/widget/${page}?${parameters({ public_id: element.publicId, lang: languageOf(element) })}`;

/** Returns a configuration error that our pages couldn't show, or "" if there is no error. */
export function mistakeOf(element: WidgetBase): string {
  if (!element.publicId) return "public-id is missing";
  if (!baseOf(element)) return `base-url is ${element.baseUrl ? "not a URL" : "missing: use https://…/v1"}`;
  // Only a sandbox gives an http page an opaque origin, and our frame on such a page would also have an opaque origin.
  return origin === "null" && /^(http|about)/.test(location.href) ? `${SANDBOXED}same-origin` : "";
}

export const SANDBOXED = "sandboxed without allow-";

/** Writes a warning for developers to the console. */
export const warn = (element: WidgetBase, reason = "see the window"): void =>
  console.warn(`${element.localName}: misconfigured: ${reason}`);

export const emit = (element: WidgetBase, name: string, detail: object): boolean =>
  element.dispatchEvent(new CustomEvent(name, { detail, bubbles: true }));
