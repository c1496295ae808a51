/** The record that the page shows: every resource in one section, ordered by date. */
import type { FhirResource, Organization, Patient, Reference } from "fhir/r4";
import { instant } from "./dates.ts";
import type { Reading } from "./read.ts";
import { partOf, sectionOf, type Part, type Section } from "./sections.ts";
import { joined, list, text } from "./value.ts";

export interface Entry {
  resource: FhirResource;
  section: Section;
  part: Part;
  /** The FHIR date, which may be partial or empty. */
  date: string;
  /** The date's first instant, or undefined if the date is unknown. */
  time: number | undefined;
}

export interface Record {
  /** All resources, newest first. Resources with unknown dates are last. */
  entries: readonly Entry[];
  sections: ReadonlyMap<Section, readonly Entry[]>;
  patients: readonly Patient[];
  /** The names of the organizations that manage the patients, or else of all organizations. */
  sources: string;
  /** The first and the last known dates, or empty strings. */
  first: string;
  last: string;
  broken: readonly number[];
  /** Returns the resource that a reference of the owner names, if the file contains it. */
  resolve: (reference: Reference | undefined, owner?: FhirResource) => FhirResource | undefined;
}

/** The fields that hold the date of a resource, in order of preference. Each type has only some of them. */
const dates: readonly string[] = [
  ...["effectiveDateTime", "effectiveInstant", "effectivePeriod", "performedDateTime", "performedPeriod"],
  ...["occurrenceDateTime", "occurrencePeriod", "onsetDateTime", "onsetPeriod", "recordedDate", "authoredOn"],
  ...["whenHandedOver", "whenPrepared", "dateAsserted", "assertedDate", "period", "date", "started", "startDate"],
  ...["servicedDate", "billablePeriod", "issued", "recorded", "created", "sent"],
];

export function dateOf(resource: FhirResource): string {
  for (const field of dates) {
    const value = (resource as unknown as { [name: string]: unknown })[field];
    const period = (typeof value === "object" ? value : undefined) as { start?: unknown; end?: unknown } | undefined;
    const date = text(value) || text(period?.start) || text(period?.end);
    if (date !== "") return date;
  }
  return "";
}

export function build({ resources, aliases, broken }: Reading): Record {
  const entries = resources.map((resource): Entry => {
    const date = resource.resourceType === "Patient" ? "" : dateOf(resource);
    const section = sectionOf(resource);
    return { resource, section, part: section === "retracted" ? "" : partOf(resource), date, time: instant(date) };
  });
  entries.sort((a, b) => (b.time ?? -Infinity) - (a.time ?? -Infinity) || 0);
  const sections = new Map<Section, Entry[]>();
  for (const entry of entries) {
    const section = sections.get(entry.section);
    if (section === undefined) sections.set(entry.section, [entry]);
    else section.push(entry);
  }
  const dated = entries.filter(({ time }) => time !== undefined);
  const patients = (sections.get("patient") ?? []).map(({ resource }) => resource as Patient);
  const resolve = resolver(resources, aliases);
  const sources = sourcesOf(patients, resources, resolve);
  const [first, last] = [dated.at(-1)?.date ?? "", dated[0]?.date ?? ""];
  return { entries, sections, patients, sources, first, last, broken, resolve };
}

function resolver(resources: readonly FhirResource[], aliases: ReadonlyMap<string, FhirResource>): Record["resolve"] {
  const byName = new Map<string, FhirResource>(aliases);
  for (const resource of resources)
    if (text(resource.id) !== "") byName.set(`${resource.resourceType}/${text(resource.id)}`, resource);
  return (reference, owner) => {
    const name = text(reference?.reference);
    if (name.startsWith("#")) {
      const contained = list((owner as { contained?: FhirResource[] } | undefined)?.contained);
      return contained.find(({ id }) => `#${text(id)}` === name);
    }
    const local = name.split("/_history/")[0]?.split("/").slice(-2).join("/") ?? "";
    return byName.get(name) ?? byName.get(local);
  };
}

function sourcesOf(
  patients: readonly Patient[],
  resources: readonly FhirResource[],
  resolve: Record["resolve"],
): string {
  const nameOf = (resource: FhirResource | undefined): string => text((resource as Organization | undefined)?.name);
  const managing = patients.map(
    (patient) => text(patient.managingOrganization?.display) || nameOf(resolve(patient.managingOrganization, patient)),
  );
  const all = joined(managing);
  if (all !== "") return all;
  const names = [...new Set(resources.filter((one) => one.resourceType === "Organization").map(nameOf))];
  return names.length > 3 ? `${joined(names.slice(0, 3))} and ${names.length - 3} others` : joined(names);
}
