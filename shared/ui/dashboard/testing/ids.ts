/** IDs and times of the sample data. */

export const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
export const ORG = id(1);
export const OTHER = id(2);

/** Returns the time that is the given number of minutes before now. */
export const before = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

export const day = 24 * 60;
