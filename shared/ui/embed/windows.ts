/** The windows opened for attempts. Their messages are hints: a portal can sever them and make them look closed. */
import type { Here, Left } from "../kit/protocol.ts";
import type { Opened, Start } from "./machine/message.ts";

const prefix = "svc-";

export class Windows {
  readonly #self: Window;
  /** By attempt. If a window closes before its message arrives, the message has no source. */
  readonly #handles = new Map<string, Window | null>();

  constructor(self: Window) {
    this.#self = self;
  }

  /**
   * Starts an attempt in its own window, and returns the browser's reaction. A browser that opens the window consumes
   * the click; one that blocks it does not. The window is named after the attempt, so that attempts don't share
   * windows. Its handle arrives with its message (heard), unless the page severs its popups.
   */
  open(id: string, start: Start): Opened {
    this.#post(start, prefix + id);
    return this.#self.navigator.userActivation?.isActive ? "blocked" : "unseen";
  }

  /** Takes the handle of a window that announces that it is leaving. Returns the id of its attempt, or undefined for any other message. */
  heard({ origin, source, data }: MessageEvent<Partial<Left> | null>): string | undefined {
    const { svc, name } = data ?? {};
    if (origin !== this.#self.location.origin || svc !== "left" || typeof name !== "string" || !name.startsWith(prefix)) return undefined;
    const id = name.slice(prefix.length);
    this.#handles.set(id, source as Window | null);
    return id;
  }

  /** Navigates this window to a URL on our own origin. */
  go(url: string): void {
    if (this.#isOwn(url)) this.#self.location.assign(url);
  }

  /**
   * Navigates this window with an attempt. The older element's window reports to its opener that the attempt exists,
   * then drops the opener: a portal's page must not reach the customer's.
   */
  leave(start: Start, attemptId: string | undefined): void {
    if (attemptId !== undefined) {
      this.here(attemptId, true);
      this.#self.opener = null;
    }
    this.#post(start, "_self");
  }

  /** The opener already knows the attempt's ID and learns nothing else. */
  here(attemptId: string, made: boolean): void {
    const said: Here = { svc: "here", attemptId, made };
    (this.#self.opener as Window | null)?.postMessage(said, "*");
  }

  /** The form's target opens the window even if window.open returns no handle, and a start value in a body can't be part of a link. */
  #post({ url, value }: Start, target: string): void {
    if (!this.#isOwn(url)) return;
    const page = this.#self.document;
    const form = page.createElement("form");
    const field = page.createElement("input");
    Object.assign(form, { method: "post", action: url, target });
    Object.assign(field, { type: "hidden", name: "start_value", value });
    form.append(field);
    page.body.append(form);
    form.submit();
    form.remove();
  }

  #isOwn(url: string): boolean {
    return URL.canParse(url) && new URL(url).origin === this.#self.location.origin;
  }

  raise(id: string): void {
    this.#handles.get(id)?.focus();
  }

  /** Closes an attempt's window. A severed one stays open; its sign-in is refused at the end. */
  shut(id: string): void {
    this.#handles.get(id)?.close();
  }

  closed(): string[] {
    return [...this.#handles].filter(([, handle]) => handle?.closed ?? true).map(([id]) => id);
  }
}
