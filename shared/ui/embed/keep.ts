/**
 * Keeps the visit in this tab's storage for our origin, which the customer's page can't read. If the browser blocks
 * storage in frames, the visit ends with its page.
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

  /** Returns the stored text, null if there is none, or undefined if the browser keeps nothing. */
  read(): string | null | undefined {
    return this.#storage?.getItem(name);
  }

  /** Writes a changed visit with the time, or removes the visit if there is none. */
  write(visit: Kept | undefined, now: number): void {
    const text = visit ? JSON.stringify(visit) : "";
    if (text === this.#last) return;
    this.#last = text;
    try {
      if (visit) this.#storage?.setItem(name, JSON.stringify({ ...visit, at: now } satisfies Stamped));
      else this.#storage?.removeItem(name);
    } catch {
      // A full storage keeps the previous value.
    }
  }
}
