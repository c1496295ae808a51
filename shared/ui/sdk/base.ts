/**
 * What both elements share: a button, or one of the page's own that was put inside, which opens. The class exists where there is no DOM, too, so
 * that a server can import the module.
 */
import { baseOf, parameters } from "./address.ts";
import { adoptEarly, type Reflected } from "./attributes.ts";
import { make } from "./make.ts";
import css from "./style.css";
import { wordsIn, type Words } from "./words.ts";

const Parent = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

export interface WidgetBase extends Reflected<"public-id"> {}

export abstract class WidgetBase extends Parent {
  protected readonly root = this.attachShadow({ mode: "open" });
  readonly #slot = make("slot");
  readonly #label = make("span", {}, "label");
  protected readonly button = make("button", { type: "button" }, "button", this.#label, this.#slot);

  constructor() {
    super();
    // A sheet made in script needs no style-src of the page.
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    this.root.adoptedStyleSheets = [sheet];
    this.root.append(this.button);
    this.#slot.addEventListener("slotchange", () => this.#arrange());
    this.addEventListener("click", (event) => this.#clicked(event));
  }

  abstract show(): void;
  abstract hide(): void;

  /** Says everything in the language of the day. */
  protected say(): void {
    this.#label.textContent = this.words.title;
  }

  /** What the page says of its language, nearest first; "" where it says nothing. */
  protected get language(): string {
    return this.closest<HTMLElement>("[lang]")?.lang ?? document.documentElement.lang;
  }

  protected get words(): Words {
    return wordsIn(this.language);
  }

  /** What opens, and where the focus returns to: the page's own button or link inside, or else ours. */
  protected get trigger(): HTMLElement {
    return this.querySelector<HTMLElement>("button, a, [role=button]") ?? this.button;
  }

  protected get base(): string {
    return baseOf(this);
  }

  /** The address of a page of ours. Nothing of a person is in it: all else travels over the port, or in a fragment. */
  protected address(page: "embed" | "connect"): string {
    return `${this.base}/widget/${page}?${parameters({ public_id: this.publicId, lang: this.language })}`;
  }

  /** The page's own mistake, which no page of ours could show; "" where there is none. */
  protected get mistake(): string {
    if (!this.publicId) return "public-id is missing";
    if (!this.base) return "base-url is not a URL";
    // Only a sandbox takes its origin away from a page of http; our frame within would have none either.
    return origin === "null" && /^(http|about:srcdoc)/.test(location.href) ? "the page's frame is sandboxed without allow-same-origin" : "";
  }

  /** For who builds the page. */
  protected warn(reason = "see the window"): void {
    console.warn(`${this.localName}: misconfigured: ${reason}`);
  }

  protected emit(name: string, detail: object): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true }));
  }

  connectedCallback(): void {
    adoptEarly(this);
    this.say();
    this.#arrange();
  }

  attributeChangedCallback(): void {
    this.say();
  }

  /** A button of the page must not be in one of ours. */
  #arrange(): void {
    const isOurs = this.trigger === this.button;
    const place = isOurs ? this.button : this.root;
    if (this.#slot.parentNode !== place) place.append(this.#slot);
    this.button.hidden = !isOurs;
    // White space is content to a slot, so that its fallback would leave a button without a name.
    this.#label.hidden = this.#slot.assignedNodes().some((node) => node instanceof Element || node.nodeValue?.trim());
  }

  #clicked(event: Event): void {
    if (!event.composedPath().includes(this.trigger)) return;
    event.preventDefault();
    this.show();
  }
}
