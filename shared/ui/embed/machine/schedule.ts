/** When an attempt is polled (docs/adr/0035-the-widget.md). Milliseconds. */

const second = 1000;
const minute = 60 * second;

/** An attempt's lifetime, which the server also enforces (popup-timeout). */
export const patience = 30 * minute;

/** Maximum age of an attempt when its window opens; its 30 minutes run from its creation. */
export const freshness = patience - minute;

/** How long the older element's window may take to report, since its page has to load. */
export const hearing = 5 * second;

/** How long a patient who closes waits for the server to confirm the cancellation. */
export const stopping = 4 * second;

/** When a response counts as late. */
export const late = 6 * second;

/** How long to wait after a link was followed before concluding that it opens nothing. */
export const doubt = 6 * second;

/** Returns the time until the next poll, by the time since the window opened. */
export function pause(elapsed: number): number {
  if (elapsed < 30 * second) return 1.5 * second;
  return elapsed < 2 * minute ? 3 * second : 5 * second;
}
