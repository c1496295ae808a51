/** Reads FHIR resources from NDJSON, a Bundle or a single resource. The text is untrusted. */
import type { Bundle, FhirResource } from "fhir/r4";

/** The result of reading a text. */
export interface Reading {
  resources: FhirResource[];
  /** The resources' other names, such as the full URLs of a Bundle's entries. */
  aliases: Map<string, FhirResource>;
  /** The numbers of the lines, or a Bundle's entries, that are not FHIR resources, counted from 1. */
  broken: number[];
}

/** The time in milliseconds after which reading lets the browser respond to the user. */
const SLICE = 30;

/**
 * Reads every line of text. Regularly reports the share that was read, from 0 to 1. Throws the signal's reason if the
 * signal is aborted.
 */
export async function read(
  text: string,
  signal: AbortSignal,
  report: (share: number) => void = () => undefined,
): Promise<Reading> {
  const reading: Reading = { resources: [], aliases: new Map(), broken: [] };
  const whole = parsed(text.length > 1 && text.indexOf("\n") < 3 ? text : "");
  if (add(whole, reading)) return reading;
  let since = performance.now();
  for (let from = 0, number = 1; from < text.length; number++) {
    const end = text.indexOf("\n", from);
    const line = text.slice(from, end < 0 ? text.length : end).trim();
    from = end < 0 ? text.length : end + 1;
    if (line !== "" && !add(parsed(line), reading)) reading.broken.push(number);
    if (performance.now() - since < SLICE) continue;
    report(from / text.length);
    await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
    since = performance.now();
  }
  return reading;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Adds a resource, or the resources of a Bundle. Returns whether value is a resource. */
function add(value: unknown, reading: Reading): boolean {
  if (!isResource(value)) return false;
  if (value.resourceType !== "Bundle" || !Array.isArray((value as Bundle).entry)) {
    reading.resources.push(value);
    return true;
  }
  for (const [i, entry] of ((value as Bundle).entry as readonly unknown[]).entries()) {
    const { resource, fullUrl } = (entry ?? {}) as { resource?: unknown; fullUrl?: unknown };
    if (!isResource(resource)) {
      if (resource !== undefined) reading.broken.push(i + 1);
      continue;
    }
    reading.resources.push(resource);
    if (typeof fullUrl === "string") reading.aliases.set(fullUrl, resource);
  }
  return true;
}

const isResource = (value: unknown): value is FhirResource =>
  typeof value === "object" && value !== null && typeof (value as FhirResource).resourceType === "string";
