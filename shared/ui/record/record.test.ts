import assert from "node:assert/strict";
import { test } from "node:test";
import type { FhirResource } from "fhir/r4";
import { describe } from "./describe.ts";
import { build, type Record } from "./record.ts";
import type { Part } from "./sections.ts";
import { chartsOf, testsOf } from "./tests.ts";

const recordOf = (...resources: object[]): Record =>
  build({ resources: resources as FhirResource[], aliases: new Map(), broken: [] });

const coded = (...codes: string[]) => ({ coding: codes.map((code) => ({ code })) });

test("every resource is in exactly one section and in the timeline", () => {
  const record = recordOf(
    { resourceType: "Patient" },
    { resourceType: "Condition" },
    { resourceType: "Observation", category: [coded("vital-signs")] },
    { resourceType: "Observation", category: [coded("social-history")] },
    { resourceType: "Observation", category: "wrong" },
    { resourceType: "Observation", status: "entered-in-error" },
    { resourceType: "Condition", verificationStatus: coded("entered-in-error") },
    { resourceType: "__proto__" },
    { resourceType: "constructor" },
    { resourceType: "Claim" },
  );
  const sizes = Object.fromEntries([...record.sections].map(([name, entries]) => [name, entries.length]));
  assert.deepEqual(sizes, { patient: 1, problems: 1, vitals: 1, habits: 1, results: 1, retracted: 2, other: 3 });
  assert.equal(record.entries.length, 10);
});

test("entries are ordered by date, newest first and unknown dates last", () => {
  const dates = [undefined, "2019", "2020-05", "once", "2019-06-01T10:00:00+02:00", "2019-06-01T09:00:00Z"];
  const record = recordOf(...dates.map((date) => ({ resourceType: "Procedure", performedDateTime: date })));
  assert.deepEqual(
    record.entries.map(({ date }) => date),
    ["2020-05", "2019-06-01T09:00:00Z", "2019-06-01T10:00:00+02:00", "2019", "", "once"],
  );
  assert.deepEqual([record.first, record.last], ["2019", "2020-05"]);
});

test("the status decides whether an entry is current", () => {
  const cases: [object, Part][] = [
    [{ resourceType: "Condition", clinicalStatus: coded("relapse") }, "Active"],
    [{ resourceType: "Condition", clinicalStatus: coded("resolved") }, "Resolved"],
    [{ resourceType: "Condition", abatementDateTime: "2019" }, "Resolved"],
    [{ resourceType: "Condition", clinicalStatus: coded("active"), verificationStatus: coded("refuted") }, "Resolved"],
    [{ resourceType: "AllergyIntolerance" }, "Status not recorded"],
    [{ resourceType: "MedicationRequest", status: "on-hold" }, "Current"],
    [{ resourceType: "MedicationStatement", status: "stopped" }, "Past"],
    [{ resourceType: "MedicationRequest" }, "Status not recorded"],
  ];
  for (const [resource, part] of cases) assert.equal(recordOf(resource).entries[0]?.part, part);
});

test("references resolve to contained resources and to resources of the file", () => {
  const contained = [{ resourceType: "Medication", id: "m", code: { text: "Aspirin" } }];
  const record = recordOf(
    { resourceType: "Medication", id: "7", code: { text: "Metformin" } },
    { resourceType: "MedicationRequest", medicationReference: { reference: "#m" }, contained },
    { resourceType: "MedicationRequest", medicationReference: { reference: "https://ehr.example/r4/Medication/7" } },
    { resourceType: "MedicationRequest", medicationReference: { reference: "Medication/7/_history/2" } },
    { resourceType: "MedicationRequest", medicationReference: { reference: "Medication/8" } },
  );
  assert.deepEqual(
    record.sections.get("medications")?.map(({ resource }) => describe(resource, record).title),
    ["Aspirin", "Metformin", "Metformin", "Medication Request"],
  );
});

test("a refuted, refused or forbidden entry has a tag", () => {
  const record = recordOf(
    { resourceType: "Condition", verificationStatus: coded("refuted") },
    { resourceType: "Immunization", status: "not-done" },
    { resourceType: "MedicationRequest", status: "active", doNotPerform: true },
    { resourceType: "AllergyIntolerance", criticality: "high" },
    { resourceType: "Procedure", status: "completed" },
  );
  const tags = record.entries.map(({ resource }) => describe(resource, record).tags.map(({ text }) => text));
  assert.deepEqual(tags, [["Refuted"], ["Not done"], ["Do not take"], ["High risk"], []]);
});

const concept = { text: "Text", coding: [{ system: "urn:x", code: "x", display: "X" }], extension: [{ url: "y" }] };
const reference = { reference: "#m", display: "" };
const quantity = { value: 1.2345, unit: "mg", comparator: "<" };
const period = { start: "2019", end: "2020" };
const range = { low: quantity, high: quantity, type: concept, appliesTo: [concept] };

/** A resource with most elements that the page reads. */
const everything = {
  contained: [{ resourceType: "Medication", id: "m", name: [{ given: ["A"], family: "B" }], code: concept }],
  ...{ status: "active", code: concept, category: [concept], bodySite: [concept], period, note: [{ text: "Note" }] },
  ...{
    clinicalStatus: concept,
    verificationStatus: concept,
    onsetAge: quantity,
    onsetRange: range,
    recorder: reference,
  },
  ...{ reaction: [{ manifestation: [concept], severity: "mild" }], criticality: "high", type: concept },
  ...{ medicationReference: reference, dispenseRequest: { quantity }, requester: reference, reasonCode: [concept] },
  dosageInstruction: [
    { doseAndRate: [{ doseQuantity: quantity }], route: concept, timing: { repeat: { frequency: 1 } } },
  ],
  ...{ vaccineCode: concept, protocolApplied: [{ doseNumberPositiveInt: 1 }], manufacturer: reference, site: concept },
  ...{ valueQuantity: quantity, component: [{ code: concept, valueRatio: { numerator: quantity } }] },
  ...{ referenceRange: [range], interpretation: [concept], performer: [{ actor: reference }], effectivePeriod: period },
  ...{ reasonReference: [reference], diagnosis: [{ condition: reference }], participant: [{ individual: reference }] },
  ...{
    class: { code: "AMB" },
    location: [{ location: reference }],
    hospitalization: { dischargeDisposition: concept },
  },
  ...{ content: [{ attachment: { url: "Binary/1" } }], context: { period }, result: [reference], presentedForm: [{}] },
  ...{ name: [{ given: ["A"], family: "B" }], identifier: [{ type: concept, value: "1" }], telecom: [{ value: "1" }] },
  ...{ communication: [{ language: concept }], managingOrganization: reference, effectiveDateTime: "2019" },
};

/** Returns copies of value, each with one of its parts replaced. */
function damaged(value: unknown): unknown[] {
  const wrong = [null, 7, "x", true, [], [null], ["x"], {}, [{}], { coding: [null] }];
  if (typeof value !== "object" || value === null) return wrong;
  const entries = Object.entries(value);
  const deeper = entries.flatMap(([name, part]) =>
    damaged(part).map((other) =>
      Array.isArray(value) ? Object.assign([...(value as unknown[])], { [name]: other }) : { ...value, [name]: other },
    ),
  );
  return [...wrong, ...deeper];
}

test("a resource of any shape has a description", () => {
  const types = ["Patient", "Condition", "AllergyIntolerance", "MedicationRequest", "Immunization", "Observation"];
  const shapes = damaged(everything).filter((one) => typeof one === "object" && one !== null) as object[];
  assert(shapes.length > 1_000);
  for (const resourceType of [...types, "Procedure", "DiagnosticReport", "Encounter", "DocumentReference", "Goal"])
    for (const shape of shapes) {
      const record = recordOf({ ...shape, resourceType });
      const { title, note, facts, tags } = describe(record.entries[0]?.resource as FhirResource, record);
      for (const shown of [title, note, ...facts.flat(), ...tags.map((tag) => tag.text)])
        assert.equal(typeof shown, "string");
      assert.notEqual(title, "");
      if (resourceType === "Observation") testsOf(record.entries).forEach(chartsOf);
    }
});
