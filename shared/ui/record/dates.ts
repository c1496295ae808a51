/** Shows FHIR dates as they were recorded: partial dates stay partial, and times stay in their own time zone. */
const pattern = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?)?)?$/;

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Returns a date without its time, such as "Mar 2019". Returns a text that is not a FHIR date unchanged. */
export function dateText(date: string): string {
  const [, year, month, day] = pattern.exec(date) ?? [];
  const name = months[Number(month) - 1];
  if (year === undefined || (month !== undefined && name === undefined)) return date;
  if (name === undefined) return year;
  return day === undefined ? `${name} ${year}` : `${name} ${Number(day)}, ${year}`;
}

/** Returns a date with its time and time zone, such as "Mar 1, 2019, 14:05 (UTC-05:00)". */
export function momentText(date: string): string {
  const [, , , , hour, minute, zone] = pattern.exec(date) ?? [];
  if (hour === undefined) return dateText(date);
  const place = zone === undefined ? "" : ["Z", "+00:00"].includes(zone) ? " (UTC)" : ` (UTC${zone})`;
  return `${dateText(date)}, ${hour}:${minute}${place}`;
}

/** Returns a date's first instant in milliseconds since 1970, or undefined if the date is unknown. */
export function instant(date: string): number | undefined {
  if (!pattern.test(date)) return undefined;
  const time = Date.parse(date.includes("T") && !/(Z|[+-]\d\d:\d\d)$/.test(date) ? `${date}Z` : date);
  return Number.isNaN(time) ? undefined : time;
}

/** Returns the recorded year, which may differ from the year in UTC. */
export const yearOf = (date: string): string => (instant(date) === undefined ? "" : date.slice(0, 4));
