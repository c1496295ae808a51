import assert from "node:assert/strict";
import { test } from "node:test";
import { secure } from "./files.tsx";
import { label, list, period, personName, quantity, range, text } from "./value.ts";

test("a coded value shows its text, then its display, then its code, then why it is absent", () => {
  const coding = [{ code: "44054006" }, { code: "E11", display: "Type 2 diabetes" }];
  const extension = [{ url: "http://hl7.org/fhir/StructureDefinition/data-absent-reason", valueCode: "masked" }];
  assert.equal(label({ text: "Diabetes", coding }), "Diabetes");
  assert.equal(label({ coding }), "Type 2 diabetes");
  assert.equal(label({ coding: [{ code: "44054006" }] }), "44054006");
  assert.equal(label({ extension } as never), "Not recorded (masked)");
  assert.equal(label(undefined), "");
});

test("values of any JSON type become text without an error", () => {
  for (const value of [
    null,
    undefined,
    {},
    [],
    [null],
    "x",
    7,
    true,
    { coding: 5 },
    { coding: { code: {} } },
    { text: [] },
  ])
    for (const shown of [label, quantity, range, period, personName, text] as ((value: never) => unknown)[])
      assert.equal(typeof shown(value as never), "string");
  assert.deepEqual(list({ code: "one" }), [{ code: "one" }]);
  assert.equal(text("x".repeat(10_000)).length, 4_001);
});

test("quantities keep comparators and units, and overviews round long decimals", () => {
  assert.equal(quantity({ comparator: "<", value: 0.5, unit: "mg/dL" }), "<0.5 mg/dL");
  assert.equal(quantity({ value: 5, unit: "%" }), "5%");
  assert.equal(quantity({ value: 120, code: "mm[Hg]" }), "120 mmHg");
  assert.equal(quantity({ unit: "mg" }), "");
  assert.equal(quantity({ value: 120.93804625 }), "120.93804625");
  assert.equal(quantity({ value: 120.93804625 }, true), "120.94");
  assert.equal(quantity({ value: 0.0012345 }, true), "0.00123");
  assert.equal(quantity({ value: 12.25 }, true), "12.25");
  assert.equal(range({ low: { value: 4, unit: "g" }, high: { value: 6, unit: "g" } }), "4–6 g");
});

test("only https URLs without credentials become links", () => {
  assert.equal(secure("https://example.org/a.pdf"), "https://example.org/a.pdf");
  for (const url of [
    ...["javascript:alert(1)", " javascript:alert(1)", "data:text/html,x", "http://example.org", "//example.org"],
    ...["https://hospital.example@evil.example/", "blob:https://example.org/1", "Binary/1", ""],
  ])
    assert.equal(secure(url), undefined, url);
});
