/** The windows that were opened for attempts. What they say of themselves is a hint: a portal can sever them from us and make them look closed. */
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
   * Starts an attempt in a window of its own, and returns what the browser made of it. A browser that opens the window uses up the click, and one that
   * may open none keeps it. The window's name is the attempt's, so that no two take each other's window. Its handle comes with its message (heard), if
   * the page does not sever what it opens.
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

  /** This window leaves, for a URL on our own origin. */
  go(url: string): void {
    if (this.#isOwn(url)) this.#self.location.assign(url);
  }

  /**
   * This window leaves, with an attempt. The older element's, of the attempt that is named, says to its opener that the attempt is made, and gives the
   * opener up: a portal's page must not reach the customer's.
   */
  leave(start: Start, attemptId: string | undefined): void {
    if (attemptId !== undefined) {
      this.here(attemptId, true);
      this.#self.opener = null;
    }
    this.#post(start, "_self");
  }

  /** Whoever has opened this window knows the attempt's id, and learns nothing else. */
  here(attemptId: string, made: boolean): void {
    const said: Here = { svc: "here", attemptId, made };
    (this.#self.opener as Window | null)?.postMessage(said, "*");
  }

  /** The form's target opens the window also where window.open gives no handle of it, and a start value in a body is in no link. */
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

  closed(): string[] {
    return [...this.#handles].filter(([, handle]) => handle?.closed ?? true).map(([id]) => id);
  }
}
