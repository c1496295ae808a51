/** The page: the patient's summary, a section for each kind of record, and a timeline. */
import type { Patient } from "fhir/r4";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { dateText, yearOf } from "./dates.ts";
import { describe, spaced } from "./describe.ts";
import { count, Details, Disclosure, Facts, Portions, Row } from "./parts.tsx";
import type { Entry, Record } from "./record.ts";
import { Results } from "./results.tsx";
import { parts, sections } from "./sections.ts";
import { absence, list, personName, text, words } from "./value.ts";

export type State =
  | { name: "empty" }
  | { name: "loading"; share: number }
  | { name: "failed"; reason: string; retry: () => void }
  | { name: "ready"; record: Record };

export function View({ state }: { state: State }): JSX.Element | null {
  switch (state.name) {
    case "empty":
      return null;
    case "loading":
      return (
        <p class="state" role="status">
          Reading the record… <progress aria-label="Reading the record" value={state.share} />
        </p>
      );
    case "failed":
      return (
        <p class="state" role="alert">
          {state.reason}{" "}
          <button type="button" class="more" onClick={state.retry}>
            Try again
          </button>
        </p>
      );
    case "ready":
      return <Page record={state.record} />;
  }
}

function Page({ record }: { record: Record }): JSX.Element {
  const shown = (Object.keys(sections) as (keyof typeof sections)[]).filter((name) => record.sections.has(name));
  return (
    <div class="page">
      <Summary record={record} />
      <nav aria-label="Sections">
        {[...shown, "timeline" as const].map((name) => (
          <button key={name} type="button" onClick={jump}>
            {name === "timeline" ? "Timeline" : sections[name]}{" "}
            <span>{count(name === "timeline" ? record.entries.length : (record.sections.get(name)?.length ?? 0))}</span>
          </button>
        ))}
      </nav>
      <div class="body">
        {shown.map((name) => (
          <SectionOf key={name} name={name} record={record} />
        ))}
        <Timeline record={record} />
      </div>
    </div>
  );
}

/** Moves to the section with the position of the pressed button. Links to an ID don't work within a shadow root. */
function jump({ currentTarget: button }: { currentTarget: HTMLElement }): void {
  const position = [...(button.parentElement?.children ?? [])].indexOf(button);
  const headings = button.closest(".page")?.querySelectorAll<HTMLElement>(".body > section > h3");
  const heading = headings?.[position];
  heading?.scrollIntoView({ block: "start" });
  heading?.focus({ preventScroll: true });
}

function Summary({ record }: { record: Record }): JSX.Element {
  const patient = record.patients[0];
  const period = record.first === "" ? "" : `${dateText(record.first)} – ${dateText(record.last)}`;
  const facts = [
    ["Born", dateText(text(patient?.birthDate)) || absence(birthDateOf(patient))],
    ["Died", patient?.deceasedBoolean === true ? "Yes" : dateText(text(patient?.deceasedDateTime))],
    ["Sex", words(patient?.gender)],
    ["Records", count(record.entries.length)],
    ["Source", record.sources],
    ["Period", period],
  ].filter(([, value]) => value !== "");
  return (
    <header>
      <h2>{personName(nameOf(patient)) || "Name not recorded"}</h2>
      <Facts facts={facts} />
      {record.patients.length > 1 && (
        <p class="notice">
          This file has {record.patients.length} patient records. Check that they are the same person.
        </p>
      )}
      {record.broken.length > 0 && <Broken lines={record.broken} />}
      {record.patients.map((one, i) => (
        <Disclosure key={i} class="json" summary="Personal details">
          {() => <Details shown={describe(one, record)} resource={one} record={record} />}
        </Disclosure>
      ))}
    </header>
  );
}

/** Returns the element that holds the extensions of the birth date. */
const birthDateOf = (patient: Patient | undefined): Parameters<typeof absence>[0] =>
  (patient as { _birthDate?: Parameters<typeof absence>[0] } | undefined)?._birthDate;

function nameOf(patient: Patient | undefined): Parameters<typeof personName>[0] {
  const names = list(patient?.name);
  return names.find(({ use }) => use === "official") ?? names.find(({ use }) => use === "usual") ?? names[0];
}

function Broken({ lines }: { lines: readonly number[] }): JSX.Element {
  const listed = lines.slice(0, 10).join(", ");
  return (
    <p class="notice">
      {lines.length === 1 ? "1 line" : `${count(lines.length)} lines`} of the file can't be read: {listed}
      {lines.length > 10 && " …"}
    </p>
  );
}

function SectionOf({ name, record }: { name: keyof typeof sections; record: Record }): JSX.Element {
  const entries = record.sections.get(name) ?? [];
  return (
    <section>
      <Heading text={sections[name]} size={entries.length} />
      {name === "results" || name === "vitals" || name === "habits" ? (
        <Results entries={entries} record={record} />
      ) : name === "other" ? (
        <Others entries={entries} record={record} />
      ) : (
        <Parts entries={entries} record={record} />
      )}
    </section>
  );
}

function Heading({ text: title, size }: { text: string; size: number }): JSX.Element {
  return (
    <h3 tabIndex={-1}>
      {title} <span class="count">{count(size)}</span>
    </h3>
  );
}

/** A section's current entries, and its past entries in a disclosure. */
function Parts({ entries, record }: { entries: readonly Entry[]; record: Record }): JSX.Element {
  const rows = (of: readonly Entry[]): JSX.Element => (
    <Portions items={of}>{(entry, i) => <Row key={i} entry={entry} record={record} />}</Portions>
  );
  const found = parts.map((part) => ({ part, of: entries.filter((entry) => entry.part === part) }));
  return (
    <>
      {found
        .filter(({ of }) => of.length > 0)
        .map(({ part, of }) =>
          part === "Resolved" || part === "Past" ? (
            <Disclosure key={part} class="past" summary={`${part} (${count(of.length)})`}>
              {() => rows(of)}
            </Disclosure>
          ) : (
            <div key={part}>
              {part !== "" && <h4>{part}</h4>}
              {rows(of)}
            </div>
          ),
        )}
    </>
  );
}

function Others({ entries, record }: { entries: readonly Entry[]; record: Record }): JSX.Element {
  const types = useMemo(() => grouped(entries, ({ resource }) => text(resource.resourceType)), [entries]);
  return (
    <>
      {types.map(([type, of]) => (
        <Disclosure key={type} class="past" summary={`${spaced(type)} (${count(of.length)})`}>
          {() => <Portions items={of}>{(entry, i) => <Row key={i} entry={entry} record={record} />}</Portions>}
        </Disclosure>
      ))}
    </>
  );
}

function Timeline({ record }: { record: Record }): JSX.Element {
  const years = useMemo(() => grouped(record.entries, ({ date }) => yearOf(date)), [record]);
  return (
    <section>
      <Heading text="Timeline" size={record.entries.length} />
      {years.map(([year, of]) => (
        <Disclosure key={year} class="past" summary={`${year || "No date"} (${count(of.length)})`}>
          {() => (
            <Portions items={of}>
              {(entry, i) => <Row key={i} entry={entry} record={record} kind={spaced(entry.resource.resourceType)} />}
            </Portions>
          )}
        </Disclosure>
      ))}
    </section>
  );
}

/** Groups entries by a key. Groups keep the entries' order. */
function grouped(entries: readonly Entry[], keyOf: (entry: Entry) => string): readonly [string, readonly Entry[]][] {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) {
    const group = groups.get(keyOf(entry));
    if (group === undefined) groups.set(keyOf(entry), [entry]);
    else group.push(entry);
  }
  return [...groups];
}
