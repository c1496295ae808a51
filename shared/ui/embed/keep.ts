/**
 * Stores the visit in this tab's storage for the service's origin, which the customer's page can't read. If the browser
 * blocks storage in frames, the visit ends with its page.
 */
import type { Kept, Stamped } from "./machine/keeping.ts";

const name = "visit";

export class Keep {
  readonly #storage: Storage | undefined;
  #last = "";

  constructor(self: Pick<Window, "sessionStorage">) {
    try {
      this.#storage = self.sessionStorage;
    } catch {
      this.#storage = undefined;
    }
  }

  /** Returns the stored text, null if no text is stored, or undefined if the browser provides no storage. */
  read(): string | null | undefined {
    return this.#storage?.getItem(name);
  }

  /** Stores a changed visit with the current time. If there is no visit to keep, removes the stored visit. */
  write(visit: Kept | undefined, now: number): void {
    const text = visit ? JSON.stringify(visit) : "";
    if (text === this.#last) return;
    this.#last = text;
    try {
      if (visit) this.#storage?.setItem(name, JSON.stringify({ ...visit, at: now } satisfies Stamped));
      else this.#storage?.removeItem(name);
    } catch {
      // If the storage is full, the previous value stays.
    }
  }
}
