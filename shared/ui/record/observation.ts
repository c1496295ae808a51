/** Reads an observation's values, reference ranges and interpretation. */
import type { CodeableConcept, Observation, ObservationComponent, ObservationReferenceRange } from "fhir/r4";
import { momentText } from "./dates.ts";
import { absence, has, joined, label, list, period, quantity, range, text, words } from "./value.ts";

/** A short mark next to a title. */
export interface Tag {
  text: string;
  tone: "plain" | "warn" | "bad";
}

type Valued = Observation | ObservationComponent;

/**
 * Returns an observation's value, with the values of its components, or why there is no value. An overview shows rounded
 * numbers.
 */
export function valueOf(of: Observation, isRounded = false): string {
  const own = ownValue(of, isRounded);
  const several = list(of.component).map((one) => joined([label(one.code), componentValue(one, isRounded)], ": "));
  const members = list(of.hasMember).length;
  return (
    bloodPressure(of, isRounded) ||
    joined([own, ...several]) ||
    absent(of) ||
    (members > 0 ? `${members} results in this panel` : "No value recorded")
  );
}

const componentValue = (of: ObservationComponent, isRounded: boolean): string =>
  ownValue(of, isRounded) || absent(of) || "No value recorded";

/** Returns "120/80 mmHg" for an observation with only a systolic and a diastolic blood pressure. */
function bloodPressure(of: Observation, isRounded: boolean): string {
  const valued = (code: string): ObservationComponent | undefined =>
    list(of.component).find((one) => has(one.code, code) && one.valueQuantity !== undefined);
  const [systolic, diastolic] = [valued("8480-6"), valued("8462-4")];
  if (systolic === undefined || diastolic === undefined || list(of.component).length !== 2) return "";
  const { unit: _, code: __, ...number } = systolic.valueQuantity ?? {};
  return `${quantity(number, isRounded)}/${quantity(diastolic.valueQuantity, isRounded)}`;
}

function absent(of: Valued): string {
  const reason = label(of.dataAbsentReason);
  return reason === "" ? absence(of) : `No value (${reason})`;
}

function ownValue(of: Valued, isRounded: boolean): string {
  if (typeof of.valueBoolean === "boolean") return of.valueBoolean ? "Yes" : "No";
  const ratio = joined([quantity(of.valueRatio?.numerator), quantity(of.valueRatio?.denominator)], " : ");
  return (
    quantity(of.valueQuantity, isRounded) ||
    label(of.valueCodeableConcept) ||
    text(of.valueString) ||
    text(of.valueInteger) ||
    range(of.valueRange) ||
    ratio ||
    text(of.valueTime) ||
    momentText(text(of.valueDateTime)) ||
    period(of.valuePeriod) ||
    (of.valueSampledData === undefined ? "" : "Waveform")
  );
}

export function rangesOf(ranges: readonly ObservationReferenceRange[] | undefined): string {
  return joined(
    list(ranges).map((one) => {
      const limits = text(one.text) || range(one as never);
      return joined([limits, labels(one)], " ");
    }),
    "; ",
  );
}

/** Returns the group to which a reference range applies, if it is not the general one. */
function labels({ type, appliesTo }: ObservationReferenceRange): string {
  const groups = joined([has(type, "normal") ? "" : label(type), ...list(appliesTo).map(label)]);
  return groups === "" ? "" : `(${groups})`;
}

const interpretations: { [code: string]: readonly [text: string, tone: "warn" | "bad"] } = {
  H: ["High", "warn"],
  HU: ["Very high", "bad"],
  HH: ["Critically high", "bad"],
  L: ["Low", "warn"],
  LU: ["Very low", "bad"],
  LL: ["Critically low", "bad"],
  A: ["Abnormal", "warn"],
  AA: ["Critically abnormal", "bad"],
  POS: ["Positive", "warn"],
  DET: ["Detected", "warn"],
};

/** The codes of interpretations that need no mark. */
const expected = ["N", "NEG", "ND"];

/** Returns tags for the interpretations, and for an unusual status. */
export function tagsOf(of: Observation): Tag[] {
  const tags = list(of.interpretation)
    .filter((one) => !has(one, ...expected))
    .map(interpreted);
  const status = text(of.status);
  if (!["", "final", "amended", "corrected", "entered-in-error"].includes(status))
    tags.push({ text: words(status), tone: "warn" });
  return tags.filter((one) => one.text !== "");
}

function interpreted(concept: CodeableConcept): Tag {
  for (const { code } of list(concept.coding)) {
    const known = Object.hasOwn(interpretations, text(code)) ? interpretations[text(code)] : undefined;
    if (known !== undefined) return { text: known[0], tone: known[1] };
  }
  return { text: label(concept), tone: "plain" };
}
