import assert from "node:assert/strict";
import { test } from "node:test";
import type { FhirResource, Observation } from "fhir/r4";
import { tagsOf, valueOf } from "./observation.ts";
import { build } from "./record.ts";
import { chartsOf, testsOf, thinned } from "./tests.ts";

const entriesOf = (...observations: object[]) => {
  const resources = observations.map((one) => ({ resourceType: "Observation", ...one }) as FhirResource);
  return build({ resources, aliases: new Map(), broken: [] }).entries;
};

const measured = (day: number, value: unknown, unit = "mmol/L", more = {}): object => ({
  code: { text: day > 2 ? "Potassium" : "Potassium, serum", coding: [{ system: "http://loinc.org", code: "2823-3" }] },
  effectiveDateTime: `2020-01-0${day}`,
  valueQuantity: { value, unit },
  ...more,
});

test("results are grouped by code, and drawn by unit and in order of time", () => {
  const referenceRange = [{ low: { value: 3.5 }, high: { value: 5 } }];
  const tests = testsOf(
    entriesOf(
      measured(3, 5.2, "mmol/L", { referenceRange }),
      measured(1, 4),
      measured(2, 4.1),
      measured(4, 20, "mg/dL"),
    ),
  );
  assert.deepEqual(
    tests.map(({ name, entries }) => [name, entries.length]),
    [["Potassium", 4]],
  );
  const charts = tests.flatMap(chartsOf);
  assert.equal(charts.length, 1); // a single number in mg/dL needs no chart
  const [line] = charts[0] ?? [];
  assert.deepEqual(
    line?.points.map(({ value }) => value),
    [4, 4.1, 5.2],
  );
  assert.deepEqual([line?.low, line?.high], [3.5, 5]);
});

test("numbers that a chart can't show are left to the table", () => {
  const [found] = testsOf(entriesOf(measured(1, "5"), measured(2, null), measured(3, 1e400), measured(4, 4)));
  assert.equal(found?.entries.length, 4);
  assert.deepEqual(found && chartsOf(found), []);
});

test("a chart of many points keeps the extremes", () => {
  const points = Array.from({ length: 100_000 }, (_, i) => ({ time: i, date: "", value: i === 777 ? 9 : Math.sin(i) }));
  const kept = thinned(points);
  assert(kept.length <= 400, `${kept.length}`);
  assert(kept.some(({ value }) => value === 9));
});

test("a value is shown with its unit, or with the reason for its absence", () => {
  const valued = (value: object): string => valueOf(value as Observation);
  assert.equal(valued({ valueQuantity: { value: 5, unit: "g" } }), "5 g");
  assert.equal(valued({ valueBoolean: false }), "No");
  assert.equal(valued({ valueInteger: 0 }), "0");
  assert.equal(valued({ dataAbsentReason: { text: "Unknown" } }), "No value (Unknown)");
  assert.equal(valued({ hasMember: [{}, {}] }), "2 results in this panel");
  const part = (code: string, value: number) => ({
    code: { coding: [{ code }] },
    valueQuantity: { value, unit: "mmHg" },
  });
  assert.equal(valued({ component: [part("8462-4", 80), part("8480-6", 120)] }), "120/80 mmHg");
  assert.equal(valued({ component: [part("8480-6", 120)] }), "8480-6: 120 mmHg");
});

test("an abnormal or preliminary result has a tag, and a normal result has none", () => {
  const tags = (code: string, status = "final"): string[] =>
    tagsOf({ status, interpretation: [{ coding: [{ code }] }] } as Observation).map(({ text }) => text);
  assert.deepEqual(tags("HH"), ["Critically high"]);
  assert.deepEqual(tags("N"), []);
  assert.deepEqual(tags("constructor"), ["constructor"]);
  assert.deepEqual(tags("N", "preliminary"), ["Preliminary"]);
});
