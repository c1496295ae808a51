/** When an attempt is asked after (docs/adr/0035-the-widget.md). Milliseconds. */

const second = 1000;
const minute = 60 * second;

/** A sign-in that takes longer has ended on the server, too (popup-timeout). */
export const patience = 30 * minute;

/** How old an attempt may be when a window opens for it: its 30 minutes run from when it was made. */
export const freshness = patience - minute;

/** How long the older element's window may take until it is heard: its page has to load. */
export const hearing = 5 * second;

/** How long after a link was followed nobody may have come, until it is sure that it opens nothing. */
export const doubt = 6 * second;

/** How long after the last question the next one comes, by the time since the window was opened. */
export function pause(elapsed: number): number {
  if (elapsed < 30 * second) return 1.5 * second;
  return elapsed < 2 * minute ? 3 * second : 5 * second;
}
