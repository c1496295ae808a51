/** The windows that were opened for attempts. What they say of themselves is a hint: a portal can sever them from us and make them look closed. */

import type { Shell } from "./machine/state.ts";

/** Of a size that portals' sign-in pages are made for. */
const features = "popup,width=520,height=720";

export class Windows {
  readonly #self: Window;
  readonly #handles = new Map<string, Window>();

  constructor(self: Window) {
    this.#self = self;
  }

  /**
   * Opens the start address, which has to be on our own origin, and tells whether the browser gave us the window. It may have opened
   * without: a page that isolates itself gets no handle. Its name is the attempt's, so that no two take each other's window.
   */
  open(id: string, url: string): boolean {
    if (!this.#isOwn(url)) return false;
    const handle = this.#self.open(url, `svc-${id}`, features);
    if (handle) this.#handles.set(id, handle);
    return handle !== null;
  }

  /**
   * This window leaves, for an address on our own origin. The older element's gives up its opener before: a portal's page must not reach
   * the customer's.
   */
  leave(url: string, shell: Shell): void {
    if (!this.#isOwn(url)) return;
    if (shell === "window") this.#self.opener = null;
    this.#self.location.assign(url);
  }

  #isOwn(url: string): boolean {
    return URL.canParse(url) && new URL(url).origin === this.#self.location.origin;
  }

  raise(id: string): void {
    this.#handles.get(id)?.focus();
  }

  closed(): string[] {
    return [...this.#handles].filter(([, handle]) => handle.closed).map(([id]) => id);
  }
}
