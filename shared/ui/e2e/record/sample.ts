/** Fictional records, and the page that `recordbridge view` writes for them. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { repository } from "../support/run.ts";

const coded = (code: string, text?: string): object => ({
  coding: [{ code }],
  ...(text === undefined ? {} : { text }),
});

const subject = { reference: "Patient/1" };

const glucose = (date: string, value: number, flag: string): object => ({
  resourceType: "Observation",
  ...{ status: "final", subject, effectiveDateTime: date, interpretation: [coded(flag)] },
  category: [coded("laboratory")],
  code: { text: "Glucose", coding: [{ system: "http://loinc.org", code: "2345-7" }] },
  valueQuantity: { value, unit: "mg/dL" },
  referenceRange: [{ low: { value: 70, unit: "mg/dL" }, high: { value: 99, unit: "mg/dL" } }],
});

const pressure = (date: string, systolic: number, diastolic: number): object => ({
  resourceType: "Observation",
  ...{ status: "final", subject, effectiveDateTime: date, category: [coded("vital-signs")] },
  code: coded("85354-9", "Blood pressure"),
  component: [
    { code: coded("8480-6", "Systolic"), valueQuantity: { value: systolic, unit: "mmHg" } },
    { code: coded("8462-4", "Diastolic"), valueQuantity: { value: diastolic, unit: "mmHg" } },
  ],
});

const problem = (text: string, status: string, onsetDateTime: string, more = {}): object => ({
  ...{ resourceType: "Condition", subject, code: { text }, clinicalStatus: coded(status), onsetDateTime, ...more },
});

const note = Buffer.from("The patient feels well.\nNext visit in six months.").toString("base64");

/** A record with every section, two broken lines and 22 resources. */
export const sample: string = [
  {
    resourceType: "Patient",
    id: "1",
    name: [{ given: ["Alder"], family: "Fenn" }],
    birthDate: "1964-03",
    gender: "female",
    managingOrganization: { reference: "Organization/1" },
  },
  { resourceType: "Organization", id: "1", name: "Sandbox Hospital" },
  problem("Type 2 diabetes", "active", "2011-05"),
  problem("Broken wrist", "resolved", "1989"),
  problem("Asthma", "active", "2015", { verificationStatus: coded("entered-in-error") }),
  { resourceType: "Medication", id: "m", code: { text: "Metformin 500 mg tablet" } },
  {
    resourceType: "MedicationRequest",
    ...{ status: "active", subject, authoredOn: "2020-02-03", medicationReference: { reference: "Medication/m" } },
    dosageInstruction: [{ text: "One tablet twice a day with meals" }],
  },
  {
    resourceType: "MedicationStatement",
    ...{ status: "stopped", subject, medicationCodeableConcept: coded("x", "Ibuprofen"), dateAsserted: "2012" },
  },
  {
    resourceType: "AllergyIntolerance",
    ...{ clinicalStatus: coded("active"), criticality: "high", code: coded("y", "Penicillin") },
    reaction: [{ manifestation: [coded("z", "Hives")] }],
  },
  { resourceType: "Immunization", status: "completed", vaccineCode: coded("140"), occurrenceDateTime: "2021-10-04" },
  glucose("2019-03", 92, "N"),
  glucose("2020-03-01T08:15:00-05:00", 118.123456, "H"),
  glucose("2021-04-02T09:00:00-04:00", 141, "HH"),
  pressure("2020-03-01", 131, 84),
  pressure("2021-04-02", 124, 79),
  {
    resourceType: "Observation",
    ...{ status: "final", category: [coded("social-history")], code: coded("72166-2", "Tobacco use") },
    dataAbsentReason: coded("asked-declined", "The patient declined to answer"),
  },
  { resourceType: "Procedure", status: "completed", code: coded("p", "Eye examination"), performedDateTime: "2020" },
  { resourceType: "DiagnosticReport", status: "final", code: coded("r", "Metabolic panel"), issued: "2021-04-02" },
  {
    resourceType: "Encounter",
    ...{ status: "finished", class: { code: "AMB", display: "ambulatory" }, period: { start: "2021-04-02" } },
    type: [coded("e", "Annual visit")],
  },
  {
    resourceType: "DocumentReference",
    ...{ status: "current", type: coded("11506-3", "Progress note"), date: "2021-04-02T10:00:00Z" },
    content: [{ attachment: { contentType: "text/plain; charset=utf-8", data: note } }],
  },
  { resourceType: "Goal", lifecycleStatus: "active", description: { text: "Walk every day" } },
  { resourceType: "Unheard", id: "1" },
]
  .map((resource) => JSON.stringify(resource))
  .concat("{broken", "[1]")
  .join("\n");

/** The markup that hostile records contain. It sets the page's variable "hacked" if the browser ever runs it. */
export const markup = `</script><script>hacked=1</script><img src=x onerror="hacked=1"><!--<script>`;

/** A record with markup in every place that the page shows, and with hostile links. */
export const hostile: string = [
  { resourceType: "Patient", id: markup, name: [{ text: markup }], gender: markup, birthDate: markup },
  { resourceType: "Condition", code: { text: markup }, text: { status: "generated", div: `<div>${markup}</div>` } },
  { resourceType: "AllergyIntolerance", code: { text: { __html: markup }, coding: { display: markup } } },
  { resourceType: "Observation", code: { text: markup }, valueString: markup, interpretation: [{ text: markup }] },
  { resourceType: markup, name: markup, status: markup },
  {
    resourceType: "DocumentReference",
    type: { text: "Links" },
    content: [
      { attachment: { url: "javascript:hacked=1" } },
      { attachment: { url: "data:text/html,<script>hacked=1</script>" } },
      { attachment: { contentType: "text/html", data: Buffer.from(markup).toString("base64") } },
      { attachment: { contentType: "text/plain", data: Buffer.from(markup).toString("base64") } },
      { attachment: { url: "https://hospital.example/note.pdf" } },
    ],
  },
]
  .map((resource) => JSON.stringify(resource))
  .concat(markup)
  .join("\n");

/** Writes the page for a record with the command, and passes the page's URL to use. */
export async function withPage(record: string, use: (url: string, mode: number) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "record-view-"));
  try {
    const [file, page] = [join(folder, "record.ndjson.gz"), join(folder, "record.html")];
    writeFileSync(file, gzipSync(record));
    execFileSync(join(repository, "build/recordbridge"), ["view", "-no-open", "-out", page, file]);
    await use(pathToFileURL(page).href, statSync(page).mode & 0o777);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
