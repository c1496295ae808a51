/** Test results and vital signs: one row for each test, with its newest value, a chart and a table. */
import type { Observation } from "fhir/r4";
import type { JSX } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { Chart, Spark } from "./chart.tsx";
import { momentText } from "./dates.ts";
import { describe } from "./describe.ts";
import { rangesOf, tagsOf, valueOf } from "./observation.ts";
import { count, Details, Disclosure, Portions, Tags, usePortion, When } from "./parts.tsx";
import type { Entry, Record } from "./record.ts";
import { chartsOf, testsOf, type Test } from "./tests.ts";

export function Results({ entries, record }: { entries: readonly Entry[]; record: Record }): JSX.Element {
  const tests = useMemo(() => testsOf(entries), [entries]);
  return <Portions items={tests}>{(test) => <TestRow key={test.name} test={test} record={record} />}</Portions>;
}

function TestRow({ test, record }: { test: Test; record: Record }): JSX.Element {
  const charts = useMemo(() => chartsOf(test), [test]);
  const newest = test.entries[0];
  const observation = newest?.resource as Observation;
  const shown = newest && describe(newest.resource, record);
  return (
    <li>
      <Disclosure
        summary={
          <>
            <span class="head">
              <span class="title">{test.name}</span>
              <Tags tags={shown?.tags ?? []} />
            </span>
            {charts[0] && (
              <span class="spark">
                <Spark lines={charts[0]} />
              </span>
            )}
            <When date={newest?.date ?? ""} />
            <span class="note">
              <b>{shown?.note}</b>
              {test.entries.length > 1 && <span class="soft"> · {count(test.entries.length)} results</span>}
            </span>
          </>
        }
      >
        {() => (
          <>
            {charts.map((lines) => (
              <Chart key={lines[0]?.unit} lines={lines} />
            ))}
            {test.entries.length > 1 ? (
              <History test={test} record={record} />
            ) : (
              shown && <Details shown={shown} resource={observation} record={record} />
            )}
          </>
        )}
      </Disclosure>
    </li>
  );
}

/** A table of all results of a test. Each result opens its details. */
function History({ test, record }: { test: Test; record: Record }): JSX.Element {
  const table = useRef<HTMLTableElement>(null);
  const [shown, button] = usePortion(table, test.entries.length);
  const entries = test.entries.slice(0, shown);
  const hasRanges = entries.some(({ resource }) => rangesOf((resource as Observation).referenceRange) !== "");
  return (
    <>
      <div class="scroll">
        <table ref={table}>
          <caption class="hidden">Results of {test.name}</caption>
          <thead>
            <tr>
              <th scope="col">Date</th>
              <th scope="col">Value</th>
              {hasRanges && <th scope="col">Reference range</th>}
              <td />
            </tr>
          </thead>
          {entries.map((entry, i) => (
            <Result key={i} entry={entry} record={record} hasRange={hasRanges} />
          ))}
        </table>
      </div>
      {button}
    </>
  );
}

function Result({ entry, record, hasRange }: { entry: Entry; record: Record; hasRange: boolean }): JSX.Element {
  const [open, setOpen] = useState(false);
  const observation = entry.resource as Observation;
  return (
    <tbody>
      <tr>
        <td>{momentText(entry.date) || "No date"}</td>
        <td>
          <b>{valueOf(observation, true)}</b> <Tags tags={tagsOf(observation)} />
        </td>
        {hasRange && <td>{rangesOf(observation.referenceRange)}</td>}
        <td>
          <button type="button" class="plain" aria-expanded={open} onClick={() => setOpen(!open)}>
            Details
          </button>
        </td>
      </tr>
      {open && (
        <tr>
          <td colSpan={4}>
            <Details shown={describe(observation, record)} resource={observation} record={record} />
          </td>
        </tr>
      )}
    </tbody>
  );
}
