/** Assigns each resource to exactly one section of the page. */
import type { AllergyIntolerance, Condition, FhirResource, MedicationRequest, Observation } from "fhir/r4";
import { has, list, text } from "./value.ts";

/** The page's sections in their order. */
export const sections = {
  problems: "Problems",
  medications: "Medications",
  allergies: "Allergies",
  immunizations: "Immunizations",
  results: "Test results",
  vitals: "Vital signs",
  habits: "Social history and surveys",
  procedures: "Procedures",
  reports: "Reports",
  visits: "Visits",
  documents: "Documents",
  retracted: "Entered in error",
  other: "Other records",
} as const;

export type Section = keyof typeof sections | "patient";

const byType: Partial<Record<FhirResource["resourceType"], Section>> = {
  Patient: "patient",
  Condition: "problems",
  MedicationRequest: "medications",
  MedicationStatement: "medications",
  MedicationDispense: "medications",
  MedicationAdministration: "medications",
  AllergyIntolerance: "allergies",
  Immunization: "immunizations",
  Procedure: "procedures",
  DiagnosticReport: "reports",
  Encounter: "visits",
  DocumentReference: "documents",
};

export function sectionOf(resource: FhirResource): Section {
  const { status, verificationStatus } = resource as { status?: unknown } & Pick<Condition, "verificationStatus">;
  if (text(status) === "entered-in-error" || has(verificationStatus, "entered-in-error")) return "retracted";
  if (resource.resourceType === "Observation") return ofObservation(resource);
  return Object.hasOwn(byType, resource.resourceType) ? (byType[resource.resourceType] ?? "other") : "other";
}

function ofObservation({ category }: Observation): Section {
  const is = (...codes: string[]): boolean => list(category).some((one) => has(one, ...codes));
  if (is("vital-signs")) return "vitals";
  return is("social-history", "survey", "activity", "sdoh") ? "habits" : "results";
}

/** The parts of a section, such as current and past medications. Most sections have only one part. */
export type Part = "" | "Active" | "Status not recorded" | "Resolved" | "Current" | "Past";

export const parts: readonly Part[] = ["", "Active", "Current", "Status not recorded", "Resolved", "Past"];

export function partOf(resource: FhirResource): Part {
  switch (resource.resourceType) {
    case "Condition":
    case "AllergyIntolerance":
      return ofProblem(resource);
    case "MedicationRequest":
    case "MedicationStatement":
    case "MedicationDispense":
    case "MedicationAdministration":
      return ofMedication(resource as MedicationRequest);
    default:
      return "";
  }
}

function ofProblem({ clinicalStatus, verificationStatus, ...rest }: Condition | AllergyIntolerance): Part {
  if (has(verificationStatus, "refuted")) return "Resolved";
  if (has(clinicalStatus, "active", "recurrence", "relapse")) return "Active";
  if (has(clinicalStatus, "inactive", "remission", "resolved")) return "Resolved";
  const { abatementDateTime, abatementPeriod } = rest as Condition;
  return abatementDateTime !== undefined || abatementPeriod !== undefined ? "Resolved" : "Status not recorded";
}

function ofMedication({ status }: MedicationRequest): Part {
  if (["active", "intended", "on-hold", "in-progress", "draft"].includes(text(status))) return "Current";
  return ["", "unknown"].includes(text(status)) ? "Status not recorded" : "Past";
}
