/** The windows that were opened for attempts. What they say of themselves is a hint: a portal can sever them from us and make them look closed. */
import type { Here } from "../kit/protocol.ts";
import type { Opened } from "./machine/message.ts";

/** Of a size that portals' sign-in pages are made for. */
const features = "popup,width=520,height=720";

export class Windows {
  readonly #self: Window;
  readonly #handles = new Map<string, Window>();

  constructor(self: Window) {
    this.#self = self;
  }

  /**
   * Opens the start address, which has to be on our own origin, and tells what the browser made of it. A page that isolates itself gets
   * no handle of a window that opens all the same, and uses up the click; one that may open none keeps the click. The name is the
   * attempt's, so that no two take each other's window.
   */
  open(id: string, url: string): Opened {
    if (!this.#isOwn(url)) return "blocked";
    const handle = this.#self.open(url, `svc-${id}`, features);
    if (handle) this.#handles.set(id, handle);
    else if (this.#self.navigator.userActivation?.isActive) return "blocked";
    return handle ? "seen" : "unseen";
  }

  /**
   * This window leaves, for an address on our own origin. The older element's, of the attempt that is named, says to its opener that the
   * attempt is made, and gives the opener up: a portal's page must not reach the customer's.
   */
  leave(url: string, attemptId: string | undefined): void {
    if (!this.#isOwn(url)) return;
    if (attemptId !== undefined) {
      this.here(attemptId, true);
      this.#self.opener = null;
    }
    this.#self.location.assign(url);
  }

  /** Whoever has opened this window knows the attempt's id, and learns nothing else. */
  here(attemptId: string, made: boolean): void {
    const said: Here = { svc: "here", attemptId, made };
    (this.#self.opener as Window | null)?.postMessage(said, "*");
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
