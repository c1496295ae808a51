/** Groups observations by test, and finds the numbers that a chart can show. */
import type { Observation, ObservationComponent } from "fhir/r4";
import type { Entry } from "./record.ts";
import { has, label, list, text, unitOf } from "./value.ts";

/** A test with all its results, newest first. */
export interface Test {
  name: string;
  entries: readonly Entry[];
}

/** Groups entries by the code and the name of their test. Tests are ordered by their newest result. */
export function testsOf(entries: readonly Entry[]): readonly Test[] {
  const tests = new Map<string, Entry[]>();
  for (const entry of entries) {
    const { code } = entry.resource as Observation;
    const coding = list(code?.coding)[0];
    const key = text(coding?.code) === "" ? label(code) : `${text(coding?.system)}|${text(coding?.code)}`;
    const test = tests.get(key);
    if (test === undefined) tests.set(key, [entry]);
    else test.push(entry);
  }
  return [...tests.values()].map((of) => ({
    name: label((of[0]?.resource as Observation).code) || "Unnamed test",
    entries: of,
  }));
}

export interface Point {
  time: number;
  date: string;
  value: number;
}

/** The values of one test or component in one unit, oldest first. */
export interface Line {
  name: string;
  unit: string;
  points: Point[];
  /** The limits of the newest reference range, if the record states them. */
  low: number | undefined;
  high: number | undefined;
}

/** Returns the lines of a test that have at least two dated numbers. */
export function linesOf({ name, entries }: Test): readonly Line[] {
  const lines = new Map<string, Line>();
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i];
    if (entry?.time === undefined) continue;
    const observation = entry.resource as Observation;
    addPoint(lines, name, observation, entry);
    for (const component of list(observation.component)) addPoint(lines, label(component.code), component, entry);
  }
  return [...lines.values()].filter(({ points }) => points.length > 1);
}

function addPoint(lines: Map<string, Line>, name: string, of: Observation | ObservationComponent, entry: Entry): void {
  const value = of.valueQuantity?.value ?? of.valueInteger;
  if (typeof value !== "number" || !Number.isFinite(value) || entry.time === undefined) return;
  const unit = unitOf(of.valueQuantity);
  const key = JSON.stringify([name, unit]);
  const line = lines.get(key) ?? { name, unit, points: [], low: undefined, high: undefined };
  lines.set(key, line);
  line.points.push({ time: entry.time, date: entry.date, value });
  const ranges = list(of.referenceRange).filter(({ type, appliesTo }) => !type || has(type, "normal") || !appliesTo);
  const limit = (one: unknown): number | undefined =>
    typeof one === "number" && Number.isFinite(one) ? one : undefined;
  if (ranges.length !== 1) return;
  line.low = limit(ranges[0]?.low?.value);
  line.high = limit(ranges[0]?.high?.value);
}

/** Returns the lines in groups that share a unit, and therefore a chart. Lines with higher values are first. */
export function chartsOf(test: Test): readonly (readonly Line[])[] {
  const charts = new Map<string, Line[]>();
  for (const line of linesOf(test)) charts.set(line.unit, [...(charts.get(line.unit) ?? []), line]);
  const newest = ({ points }: Line): number => points.at(-1)?.value ?? 0;
  return [...charts.values()].map((lines) => lines.sort((a, b) => newest(b) - newest(a)));
}

/** The number of points above which a chart shows only the extremes of short periods. */
const MOST = 400;

/** Returns at most MOST of the points, with the lowest and the highest of each part. */
export function thinned(points: readonly Point[]): readonly Point[] {
  if (points.length <= MOST) return points;
  const size = Math.ceil(points.length / (MOST / 2));
  const kept: Point[] = [];
  for (let from = 0; from < points.length; from += size) {
    const part = points.slice(from, from + size);
    const low = part.reduce((a, b) => (b.value < a.value ? b : a));
    const high = part.reduce((a, b) => (b.value > a.value ? b : a));
    kept.push(...(low.time <= high.time ? [low, high] : [high, low]));
  }
  return kept;
}
