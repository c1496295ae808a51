/**
 * record-view: shows the FHIR record in the attribute src (a URL), the property text, or a child
 * <script type="application/x-ndjson">. Only src causes a request. The events load and error report the outcome.
 */
import { h, render } from "preact";
import { build } from "./record.ts";
import { read } from "./read.ts";
import { sheets } from "./sheets.ts";
import { View, type State } from "./view.tsx";

const Parent = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

export class RecordView extends Parent {
  static readonly observedAttributes: readonly string[] = ["src"];

  readonly #root = this.attachShadow({ mode: "open" });
  #text: string | undefined;
  #loading: AbortController | undefined;

  constructor() {
    super();
    this.#root.adoptedStyleSheets = sheets();
  }

  /** The URL of an NDJSON file. */
  get src(): string {
    return this.getAttribute("src") ?? "";
  }

  set src(value: string) {
    this.setAttribute("src", value);
  }

  /** The NDJSON text, which takes precedence over src. Undefined if the page didn't set any. */
  get text(): string | undefined {
    return this.#text;
  }

  set text(value: string | undefined) {
    this.#text = value;
    if (this.isConnected) void this.#load();
  }

  connectedCallback(): void {
    // The page may have set the property before the element was defined.
    if (Object.hasOwn(this, "text")) {
      const { text } = this;
      Reflect.deleteProperty(this, "text");
      this.#text = text;
    }
    void this.#load();
  }

  attributeChangedCallback(): void {
    if (this.isConnected) void this.#load();
  }

  disconnectedCallback(): void {
    this.#loading?.abort();
    this.#show({ name: "empty" });
  }

  async #load(): Promise<void> {
    this.#loading?.abort();
    const { signal } = (this.#loading = new AbortController());
    try {
      this.#show({ name: "loading", share: 0 });
      const text = await this.#input(signal);
      if (text === undefined) return this.#show({ name: "empty" });
      const reading = await read(text, signal, (share) => this.#show({ name: "loading", share }));
      this.#show({ name: "ready", record: build(reading) });
      this.dispatchEvent(new Event("load"));
    } catch (error) {
      if (signal.aborted) return;
      const reason = error instanceof StatusError ? error.message : "The record can't be loaded.";
      this.#show({ name: "failed", reason, retry: () => void this.#load() });
      this.dispatchEvent(new Event("error"));
    }
  }

  async #input(signal: AbortSignal): Promise<string | undefined> {
    if (this.#text !== undefined) return String(this.#text);
    const inline = this.querySelector('script[type="application/x-ndjson"]');
    if (inline !== null) return inline.textContent ?? "";
    if (this.src === "") return undefined;
    const response = await fetch(this.src, { signal });
    if (!response.ok) throw new StatusError(`The record can't be loaded (HTTP status ${response.status}).`);
    return response.text();
  }

  #show(state: State): void {
    render(h(View, { state }), this.#root);
  }
}

/** An error whose message users can read. */
class StatusError extends Error {}
