/**
 * Reads values of FHIR's data types as text. A hostile record may contain any JSON in any place, so that every function
 * accepts any value, and returns only strings that a page can show.
 */
import type { Annotation, CodeableConcept, Extension, HumanName, Identifier, Period, Quantity, Range } from "fhir/r4";
import { dateText } from "./dates.ts";

/** The number of characters of a value that the page shows. The JSON of a resource has all. */
const LONGEST = 4_000;

export function text(value: unknown): string {
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return "";
  const all = String(value).trim();
  return all.length > LONGEST ? `${all.slice(0, LONGEST)}…` : all;
}

/** Returns an element's repetitions, also if a single value is not in a list. */
export function list<T>(value: readonly T[] | T | null | undefined): readonly T[] {
  if (Array.isArray(value)) return value.filter((one) => one !== null && one !== undefined);
  return value === null || value === undefined ? [] : [value as T];
}

/** Returns the texts that are not empty, without repetitions. */
export const joined = (texts: readonly string[], separator = ", "): string =>
  [...new Set(texts.filter((one) => one !== ""))].join(separator);

/** Returns a coded value's text, or its first display, or its first code, or why it is absent. */
export function label(concept: CodeableConcept | undefined | null): string {
  const codings = list(concept?.coding);
  const first = (texts: readonly string[]): string => texts.find((one) => one !== "") ?? "";
  return (
    text(concept?.text) ||
    first(codings.map(({ display }) => text(display))) ||
    first(codings.map(({ code }) => text(code))) ||
    absence(concept)
  );
}

export const labels = (concepts: readonly CodeableConcept[] | undefined): string => joined(list(concepts).map(label));

/** Returns whether a concept has one of the codes. */
export const has = (concept: CodeableConcept | undefined | null, ...codes: readonly string[]): boolean =>
  list(concept?.coding).some(({ code }) => codes.includes(text(code)));

/** Returns why an element has no value, if its extension states a reason. */
export function absence(element: { extension?: Extension[] | undefined } | undefined | null): string {
  const found = list(element?.extension).find(({ url }) => text(url).endsWith("/data-absent-reason"));
  const reason = text(found?.valueCode);
  return reason === "" ? "" : `Not recorded (${reason})`;
}

export function quantity(value: Quantity | undefined | null, isRounded = false): string {
  const unit = unitOf(value);
  const number = isRounded ? rounded(value?.value) : text(value?.value);
  return number === "" ? "" : joined([`${text(value?.comparator)}${number}`, unit], unit === "%" ? "" : " ");
}

/** Returns a unit's text, or its UCUM code in a form that people know. */
export const unitOf = (value: Quantity | undefined | null): string =>
  (text(value?.unit) || text(value?.code)).replace("mm[Hg]", "mmHg").replaceAll(/[{}]/g, "");

/** Returns a number with at most two decimals, or with three digits if the number is below 1. */
function rounded(value: unknown): string {
  if (typeof value !== "number" || !/\.\d{3}/.test(String(value))) return text(value);
  return String(Number(Math.abs(value) < 1 ? value.toPrecision(3) : value.toFixed(2)));
}

export function range(value: Range | undefined | null): string {
  const [low, high] = [quantity(value?.low), quantity(value?.high)];
  if (low === "") return high === "" ? "" : `up to ${high}`;
  return high === "" ? `from ${low}` : `${text(value?.low?.value)}–${high}`;
}

export function period(value: Period | undefined | null): string {
  const [start, end] = [dateText(text(value?.start)), dateText(text(value?.end))];
  if (start === "") return end === "" ? "" : `until ${end}`;
  if (end === "") return `since ${start}`;
  return start === end ? start : `${start} – ${end}`;
}

export function personName(name: HumanName | undefined): string {
  const parts = [...list(name?.prefix), ...list(name?.given), text(name?.family), ...list(name?.suffix)];
  return text(name?.text) || parts.map(text).filter(Boolean).join(" ");
}

export const notes = (value: readonly Annotation[] | undefined): string =>
  joined(
    list(value).map((note) => text(note.text)),
    "\n",
  );

export const identifiers = (value: readonly Identifier[] | undefined): string =>
  joined(list(value).map((one) => joined([label(one.type), text(one.value)], " ")));

/** Returns words of a FHIR code, such as "Not done" for "not-done". */
export function words(code: unknown): string {
  const spaced = text(code).replaceAll("-", " ");
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
