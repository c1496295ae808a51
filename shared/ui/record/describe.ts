/** Describes a resource in a person's words: a title, tags and labelled facts. */
import type * as fhir from "fhir/r4";
import { dateText, momentText } from "./dates.ts";
import type { Record } from "./record.ts";
import { rangesOf, tagsOf, valueOf, type Tag } from "./observation.ts";
import { absence, has, identifiers, joined, label, labels, list, notes, period, personName } from "./value.ts";
import { quantity, range, text, words } from "./value.ts";

export interface Description {
  title: string;
  /** The most important value, which is shown next to the title. */
  note: string;
  tags: readonly Tag[];
  /** Pairs of a label and a value. Pairs with an empty value are not shown. */
  facts: readonly (readonly [label: string, value: string])[];
  files: readonly fhir.Attachment[];
}

type Describe<T> = (resource: T, record: Record) => Partial<Description>;

/** Describes a resource, whatever its shape. A resource without a title gets the name of its type. */
export function describe(resource: fhir.FhirResource, record: Record): Description {
  const type = text(resource.resourceType);
  const known = Object.hasOwn(describers, type) ? describers[type] : undefined;
  const { title, ...found } = (known ?? anything)(resource as never, record);
  return { note: "", tags: [], facts: [], files: [], ...found, title: title || spaced(type) };
}

/** Returns a type's name in words, such as "Care Plan". */
export const spaced = (type: string): string => type.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ");

const tag = (value: string, tone: Tag["tone"] = "plain"): Tag[] => (value === "" ? [] : [{ text: value, tone }]);

/** Returns a tag for a status, unless it is an expected status. The page marks retracted entries itself. */
const unusual = (status: unknown, ...expected: readonly string[]): Tag[] =>
  ["entered-in-error", ...expected].includes(text(status)) ? [] : tag(words(status), "warn");

function named(reference: fhir.Reference | undefined, owner: fhir.FhirResource, record: Record): string {
  const display = text(reference?.display);
  if (display !== "") return display;
  const found = record.resolve(reference, owner) as fhir.Practitioner | fhir.Organization | fhir.Location | undefined;
  const name = found?.name as unknown;
  if (Array.isArray(name)) return personName(name[0]);
  return text(name) || label((found as fhir.Medication | undefined)?.code);
}

const namedAll = (of: readonly fhir.Reference[] | undefined, owner: fhir.FhirResource, record: Record): string =>
  joined(list(of).map((one) => named(one, owner, record)));

const condition: Describe<fhir.Condition> = (of, record) => ({
  title: label(of.code),
  tags: [
    ...unusual(list(of.verificationStatus?.coding)[0]?.code, "", "confirmed"),
    ...(list(of.category).some((one) => has(one, "encounter-diagnosis")) ? tag("Visit diagnosis") : []),
  ],
  facts: [
    ["Status", label(of.clinicalStatus)],
    ["Severity", label(of.severity)],
    ["Started", onset(of)],
    ["Ended", momentText(text(of.abatementDateTime)) || period(of.abatementPeriod) || text(of.abatementString)],
    ["Recorded", momentText(text(of.recordedDate))],
    ["Recorded by", named(of.recorder ?? of.asserter, of, record)],
    ["Body site", labels(of.bodySite)],
    ["Notes", notes(of.note)],
  ],
});

const onset = (of: fhir.Condition | fhir.AllergyIntolerance): string =>
  momentText(text(of.onsetDateTime)) ||
  period(of.onsetPeriod) ||
  quantity(of.onsetAge).replace(/^(?=.)/, "at the age of ") ||
  range(of.onsetRange) ||
  text(of.onsetString);

const allergy: Describe<fhir.AllergyIntolerance> = (of, record) => ({
  title: label(of.code),
  note: joined(list(of.reaction).flatMap(({ manifestation }) => list(manifestation).map(label))),
  tags: [
    ...(text(of.criticality) === "high" ? tag("High risk", "bad") : []),
    ...unusual(list(of.verificationStatus?.coding)[0]?.code, "", "confirmed"),
  ],
  facts: [
    ["Status", label(of.clinicalStatus)],
    ["Type", joined([words(of.type), ...list(of.category).map(words)])],
    ["Risk", words(of.criticality)],
    ["Reactions", joined(list(of.reaction).map(reaction), "\n")],
    ["Started", onset(of)],
    ["Recorded", momentText(text(of.recordedDate))],
    ["Recorded by", named(of.recorder ?? of.asserter, of, record)],
    ["Notes", notes(of.note)],
  ],
});

const reaction = (of: fhir.AllergyIntoleranceReaction): string =>
  joined([labels(of.manifestation), words(of.severity), text(of.description)]);

/** The elements of the four types that describe a medication. */
type Medication = fhir.MedicationRequest &
  Pick<fhir.MedicationStatement, "dosage" | "effectiveDateTime" | "effectivePeriod"> &
  Pick<fhir.MedicationDispense, "quantity" | "whenHandedOver">;

const medication: Describe<Medication> = (of, record) => {
  const doses = list(of.dosageInstruction ?? of.dosage).map(dose);
  return {
    title: label(of.medicationCodeableConcept) || named(of.medicationReference, of, record),
    note: joined(doses, "; "),
    tags: [
      ...(of.doNotPerform === true ? tag("Do not take", "bad") : []),
      ...unusual(of.status, "", "active", "completed"),
    ],
    facts: [
      ["Record", words(spaced(of.resourceType).toLowerCase())],
      ["Status", words(of.status)],
      ["Dosage", joined(doses, "\n")],
      ["Taken", momentText(text(of.effectiveDateTime)) || period(of.effectivePeriod)],
      ["Prescribed", momentText(text(of.authoredOn))],
      ["Dispensed", momentText(text(of.whenHandedOver))],
      ["Quantity", quantity(of.quantity ?? of.dispenseRequest?.quantity)],
      ["Refills", text(of.dispenseRequest?.numberOfRepeatsAllowed)],
      ["Prescriber", named(of.requester, of, record)],
      ["Reason", joined([labels(of.reasonCode), namedCondition(of.reasonReference, of, record)])],
      ["Status reason", label(list(of.statusReason)[0])],
      ["Notes", notes(of.note)],
    ],
  };
};

function dose(of: fhir.Dosage): string {
  const written = text(of.text) || text(of.patientInstruction);
  if (written !== "") return written;
  const rate = list(of.doseAndRate)[0];
  const { frequency, period: every, periodUnit } = of.timing?.repeat ?? {};
  const often = text(frequency) && text(every) ? `${text(frequency)} × per ${text(every)} ${text(periodUnit)}` : "";
  return joined([
    quantity(rate?.doseQuantity) || range(rate?.doseRange),
    label(of.route),
    label(of.timing?.code) || often,
    of.asNeededBoolean === true ? "as needed" : label(of.asNeededCodeableConcept),
  ]);
}

const namedCondition = (of: readonly fhir.Reference[] | undefined, owner: fhir.FhirResource, record: Record): string =>
  joined(
    list(of).map((one) => text(one.display) || label((record.resolve(one, owner) as fhir.Condition | undefined)?.code)),
  );

const immunization: Describe<fhir.Immunization> = (of, record) => ({
  title: label(of.vaccineCode),
  tags: unusual(of.status, "", "completed"),
  facts: [
    ["Given", momentText(text(of.occurrenceDateTime)) || text(of.occurrenceString)],
    ["Reason not given", label(of.statusReason)],
    ["Dose", joined(list(of.protocolApplied).map((one) => text(one.doseNumberPositiveInt ?? one.doseNumberString)))],
    ["Amount", quantity(of.doseQuantity)],
    ["Lot number", text(of.lotNumber)],
    ["Manufacturer", named(of.manufacturer, of, record)],
    ["Site", joined([label(of.site), label(of.route)])],
    ["Place", named(of.location, of, record)],
    ["Notes", notes(of.note)],
  ],
});

const observation: Describe<fhir.Observation> = (of, record) => ({
  title: label(of.code),
  note: valueOf(of, true),
  tags: tagsOf(of),
  facts: [
    ["Value", valueOf(of)],
    ["Reference range", rangesOf(of.referenceRange)],
    ["Date", momentText(text(of.effectiveDateTime) || text(of.effectiveInstant)) || period(of.effectivePeriod)],
    ["Category", joined(list(of.category).map(label))],
    ["Method", label(of.method)],
    ["Body site", label(of.bodySite)],
    ["Measured by", namedAll(of.performer, of, record)],
    ["Notes", notes(of.note)],
  ],
});

const procedure: Describe<fhir.Procedure> = (of, record) => ({
  title: label(of.code),
  tags: unusual(of.status, "", "completed"),
  facts: [
    ["Date", momentText(text(of.performedDateTime)) || period(of.performedPeriod) || text(of.performedString)],
    ["Reason", joined([labels(of.reasonCode), namedCondition(of.reasonReference, of, record)])],
    ["Body site", labels(of.bodySite)],
    ["Outcome", label(of.outcome)],
    ["Performed by", joined(list(of.performer).map(({ actor }) => named(actor, of, record)))],
    ["Place", named(of.location, of, record)],
    ["Notes", notes(of.note)],
  ],
});

const report: Describe<fhir.DiagnosticReport> = (of, record) => ({
  title: label(of.code),
  note: labels(of.category),
  tags: unusual(of.status, "", "final"),
  facts: [
    ["Date", momentText(text(of.effectiveDateTime)) || period(of.effectivePeriod)],
    ["Issued", momentText(text(of.issued))],
    ["Conclusion", joined([text(of.conclusion), labels(of.conclusionCode)], "\n")],
    [
      "Results",
      joined(
        list(of.result).map((one) => oneResult(one, of, record)),
        "\n",
      ),
    ],
    ["By", namedAll(of.performer, of, record)],
  ],
  files: list(of.presentedForm),
});

function oneResult(reference: fhir.Reference, owner: fhir.FhirResource, record: Record): string {
  const found = record.resolve(reference, owner);
  if (found?.resourceType !== "Observation") return text(reference.display);
  return joined([label(found.code), valueOf(found)], ": ");
}

const encounter: Describe<fhir.Encounter> = (of, record) => {
  const kind = words(text(of.class?.display) || text(of.class?.code));
  const reasons = joined([labels(of.reasonCode), namedCondition(of.reasonReference, of, record)]);
  return {
    title: labels(of.type) || kind,
    note: joined([reasons, named(of.serviceProvider, of, record)], " · "),
    tags: unusual(of.status, "", "finished"),
    facts: [
      ["Kind", kind],
      ["Period", joined([momentText(text(of.period?.start)), momentText(text(of.period?.end))], " – ")],
      ["Reason", reasons],
      ["Diagnoses", joined(list(of.diagnosis).map((one) => namedCondition([one.condition], of, record)))],
      ["With", joined(list(of.participant).map(({ individual }) => named(individual, of, record)))],
      ["Place", joined(list(of.location).map(({ location }) => named(location, of, record)))],
      ["Organization", named(of.serviceProvider, of, record)],
      ["Discharge", label(of.hospitalization?.dischargeDisposition)],
    ],
  };
};

const document: Describe<fhir.DocumentReference> = (of, record) => ({
  title: label(of.type) || text(of.description) || text(list(of.content)[0]?.attachment?.title),
  note: text(of.description),
  tags: unusual(of.docStatus ?? of.status, "", "current", "final"),
  facts: [
    ["Date", momentText(text(of.date))],
    ["Category", labels(of.category)],
    ["Author", namedAll(of.author, of, record)],
    ["Period", period(of.context?.period)],
  ],
  files: list(of.content).map(({ attachment }) => attachment),
});

const patient: Describe<fhir.Patient> = (of, record) => ({
  title: personName(list(of.name)[0]),
  facts: [
    ["Names", joined(list(of.name).map(personName))],
    ["Born", dateText(text(of.birthDate))],
    ["Deceased", of.deceasedBoolean === true ? "Yes" : momentText(text(of.deceasedDateTime))],
    ["Identifiers", identifiers(of.identifier)],
    ["Contact", joined(list(of.telecom).map(({ value }) => text(value)))],
    ["Languages", joined(list(of.communication).map(({ language }) => label(language)))],
    ["Care providers", namedAll(of.generalPractitioner, of, record)],
  ],
});

/** Describes a resource of any other type by the elements that many types share. */
const anything: Describe<{ resourceType: string }> = (of) => {
  const shared = of as unknown as { [name: string]: unknown };
  const concept = (name: string): string => label(list(shared[name] as fhir.CodeableConcept)[0]);
  const name = list(shared["name"] as fhir.HumanName | string)[0];
  const own = typeof name === "string" ? text(name) : personName(name);
  return {
    title:
      own ||
      text(shared["title"]) ||
      concept("code") ||
      text(shared["description"]) ||
      concept("description") ||
      concept("type"),
    note: joined([concept("category"), absence(shared as never)]),
    tags: unusual(shared["status"], "", "active", "final", "completed", "current", "finished", "available"),
  };
};

const describers: { [type: string]: Describe<never> } = {
  Patient: patient,
  Condition: condition,
  AllergyIntolerance: allergy,
  MedicationRequest: medication,
  MedicationStatement: medication,
  MedicationDispense: medication,
  MedicationAdministration: medication,
  Immunization: immunization,
  Observation: observation,
  Procedure: procedure,
  DiagnosticReport: report,
  Encounter: encounter,
  DocumentReference: document,
};
