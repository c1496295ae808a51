/** Test results and vital signs: one row for each test, with its newest value, a chart and a table. */
import type { Observation } from "fhir/r4";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { Chart, Spark } from "./chart.tsx";
import { momentText } from "./dates.ts";
import { describe } from "./describe.ts";
import { rangesOf, tagsOf, valueOf } from "./observation.ts";
import { count, Details, Disclosure, Portions, Tags, When } from "./parts.tsx";
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
            <span class="title">{test.name}</span>
            <Tags tags={shown?.tags ?? []} />
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

/** All results of a test. Each result opens its details. */
function History({ test, record }: { test: Test; record: Record }): JSX.Element {
  return (
    <Portions items={test.entries} class="rows history">
      {(entry, i) => {
        const observation = entry.resource as Observation;
        return (
          <li key={i}>
            <Disclosure
              summary={
                <>
                  <b class="title">{valueOf(observation)}</b>
                  <Tags tags={tagsOf(observation)} />
                  <span class="date">{momentText(entry.date) || "No date"}</span>
                  {rangesOf(observation.referenceRange) !== "" && (
                    <span class="note">Reference range {rangesOf(observation.referenceRange)}</span>
                  )}
                </>
              }
            >
              {() => <Details shown={describe(entry.resource, record)} resource={entry.resource} record={record} />}
            </Disclosure>
          </li>
        );
      }}
    </Portions>
  );
}
