/** The windows that were opened for attempts. The windows' messages are only hints: a portal can sever a window and make it look closed. */
import type { Here, Leave, Left } from "../kit/protocol.ts";
import type { Opened, Start } from "./machine/message.ts";

const prefix = "svc-";

export class Windows {
  readonly #self: Window;
  /** Window handles by attempt ID. If a window closes before its message arrives, the message has no source. */
  readonly #handles = new Map<string, Window | null>();
  /** Attempt IDs of windows to close. Browsers ignore a close while a window navigates to another site. */
  readonly #unwanted = new Set<string>();

  constructor(self: Window) {
    this.#self = self;
  }

  /**
   * Starts an attempt in its own window, and returns the browser's reaction. A browser that opens the window consumes
   * the click; a browser that blocks the window does not. The window is named after the attempt, so that attempts don't
   * share windows. The window's handle arrives with its message (see heard), unless the page severs its popups.
   */
  open(id: string, start: Start): Opened {
    this.#post(start, prefix + id);
    return this.#self.navigator.userActivation?.isActive ? "blocked" : "unseen";
  }

  /**
   * Stores the handle of a window that announces that it is leaving, and lets the window leave. Returns the window's
   * attempt ID, or undefined for any other message.
   */
  heard({ origin, source, data }: MessageEvent<Partial<Left> | null>): string | undefined {
    const { svc, name } = data ?? {};
    if (origin !== this.#self.location.origin || svc !== "left" || typeof name !== "string" || !name.startsWith(prefix))
      return undefined;
    const id = name.slice(prefix.length);
    const handle = source as Window | null;
    this.#handles.set(id, handle);
    handle?.postMessage({ svc: "leave" } satisfies Leave, origin);
    return id;
  }

  /** Navigates this window to a URL on the service's own origin. */
  go(url: string): void {
    if (this.#isOwn(url)) this.#self.location.assign(url);
  }

  /**
   * Navigates this window with an attempt. The older element's window reports to its opener that the attempt exists.
   * The window then drops its opener, because a portal's page must not reach the customer's page.
   */
  leave(start: Start, attemptId: string | undefined): void {
    if (attemptId !== undefined) {
      this.here(attemptId, true);
      this.#self.opener = null;
    }
    this.#post(start, "_self");
  }

  /** Reports the attempt's ID to the opener. The opener already knows the ID and learns nothing else. */
  here(attemptId: string, made: boolean): void {
    const said: Here = { svc: "here", attemptId, made };
    (this.#self.opener as Window | null)?.postMessage(said, "*");
  }

  /**
   * Posts a form. The form's target opens the window even if window.open returns no handle. A link can't contain the
   * start value, because the value is in the body.
   */
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

  /**
   * Closes an attempt's window, now or as soon as the window can be reached. A severed window stays open, and its sign-in
   * is rejected at the end.
   */
  shut(id: string): void {
    this.#unwanted.add(id);
    this.closed();
  }

  /** Returns the attempts whose windows are closed, and tries again to close the unwanted windows. */
  closed(): string[] {
    for (const id of this.#unwanted) this.#handles.get(id)?.close();
    return [...this.#handles].filter(([, handle]) => handle?.closed ?? true).map(([id]) => id);
  }
}
