/** The times at which an attempt is polled (docs/adr/0035-the-widget.md), in milliseconds. */

const second = 1000;
const minute = 60 * second;

/** An attempt's lifetime, which the server also enforces (popup-timeout). */
export const patience = 30 * minute;

/** The maximum age of an attempt when its window opens. The attempt's 30 minutes begin at its creation. */
export const freshness = patience - minute;

/** The time that the older element's window may take to report, since the window's page has to load. */
export const hearing = 5 * second;

/** How long a window may take to come to the front. Browsers may not report a window that closed while navigating. */
export const rise = 2 * second;

/** The time that a patient who closes the widget waits for the server to confirm the cancellation. */
export const stopping = 4 * second;

/** The time after which a response counts as late. */
export const late = 6 * second;

/** The time to wait after the patient has followed a link before concluding that the link opened no window. */
export const doubt = 6 * second;

/** Returns the time until the next poll, given the time since the window opened. */
export function pause(elapsed: number): number {
  if (elapsed < 30 * second) return 1.5 * second;
  return elapsed < 2 * minute ? 3 * second : 5 * second;
}
