import assert from "node:assert/strict";
import { test } from "node:test";
import { dateText, instant, momentText, yearOf } from "./dates.ts";

test("a date keeps its precision", () => {
  for (const [date, shown] of [
    ["2019", "2019"],
    ["2019-03", "Mar 2019"],
    ["2019-03-01", "Mar 1, 2019"],
    ["2019-03-01T23:30:00-05:00", "Mar 1, 2019"],
    ["2019-13", "2019-13"],
    ["spring", "spring"],
    ["", ""],
  ] as const)
    assert.equal(dateText(date), shown);
});

test("a time keeps its time zone", () => {
  assert.equal(momentText("2019-03-01T23:30:59.123-05:00"), "Mar 1, 2019, 23:30 (UTC-05:00)");
  assert.equal(momentText("2019-03-01T23:30:00Z"), "Mar 1, 2019, 23:30 (UTC)");
  assert.equal(momentText("2019-03"), "Mar 2019");
  assert.equal(yearOf("2019-12-31T23:30:00-05:00"), "2019"); // 2020 in UTC
  assert.equal(yearOf("spring"), "");
});

test("instants order dates of different precision and time zones", () => {
  const dates = ["2019", "2019-03-01T00:30:00+02:00", "2019-03-01", "2019-03-01T01:00:00"];
  const times = dates.map((date) => instant(date) ?? NaN);
  assert.deepEqual(times, [...times].sort());
  assert.equal(instant("2019-02-45"), undefined);
});
