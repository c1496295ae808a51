/** The parts that all sections of the page share. */
import type { ComponentChildren, JSX, RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Attachment, FhirResource } from "fhir/r4";
import { dateText } from "./dates.ts";
import { describe, type Description } from "./describe.ts";
import type { Entry, Record } from "./record.ts";
import type { Tag } from "./observation.ts";
import { Files } from "./files.tsx";

/** The number of items that a longer list shows at first. */
const PORTION = 10;

/** The number of items up to which a list shows all. */
const WHOLE = 15;

/** The number of items that each press of a list's button adds. */
const NEXT = 50;

/**
 * Limits a list to the number of items that the reader asked for. Returns that number and the button that shows more.
 * The items are the li or tbody elements of the list, and the first new item gets the focus.
 */
export function usePortion(
  list: RefObject<HTMLElement | null>,
  size: number,
): readonly [shown: number, button: JSX.Element | null] {
  const [shown, setShown] = useState(size > WHOLE ? PORTION : size);
  const more = Math.min(NEXT, size - shown);
  const isNew = useRef(false);
  useLayoutEffect(() => {
    if (!isNew.current) return;
    isNew.current = false;
    const items = list.current?.querySelectorAll(":scope > li, :scope > tbody");
    items?.[shown - more]?.querySelector<HTMLElement>("summary, button")?.focus();
  });
  const grow = (): void => {
    isNew.current = true;
    setShown(shown + more);
  };
  if (more <= 0) return [shown, null];
  return [
    shown,
    <button type="button" class="more" onClick={grow}>
      Show {more} more <span class="soft">of {count(size - shown)}</span>
    </button>,
  ];
}

/** A list that shows its items, as li elements, in portions. */
export function Portions<T>({
  items,
  children,
}: {
  items: readonly T[];
  children: (item: T, index: number) => JSX.Element;
}): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  const [shown, button] = usePortion(list, items.length);
  return (
    <>
      <ul class="rows" ref={list}>
        {items.slice(0, shown).map(children)}
      </ul>
      {button}
    </>
  );
}

export const count = (value: number): string => value.toLocaleString("en");

/** A disclosure that renders its content only while it is open. */
export function Disclosure({
  summary,
  children,
  class: name,
}: {
  summary: ComponentChildren;
  children: () => ComponentChildren;
  class?: string;
}): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <details class={name} open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{summary}</summary>
      {open && <div class="content">{children()}</div>}
    </details>
  );
}

export function Tags({ tags }: { tags: readonly Tag[] }): JSX.Element {
  return (
    <>
      {tags.map((tag) => (
        <span key={tag.text} class={`tag ${tag.tone}`}>
          {tag.text}
        </span>
      ))}
    </>
  );
}

/** A date, or "No date" if the record states none. */
export function When({ date }: { date: string }): JSX.Element {
  return <span class="date">{dateText(date) || "No date"}</span>;
}

/** A resource as a row that opens its details. */
export function Row({ entry, record, kind }: { entry: Entry; record: Record; kind?: string }): JSX.Element {
  const shown = describe(entry.resource, record);
  const retracted: Tag[] = entry.section === "retracted" ? [{ text: "Entered in error", tone: "bad" }] : [];
  return (
    <li>
      <Disclosure
        summary={
          <>
            <span class="head">
              <span class={retracted.length > 0 ? "title struck" : "title"}>{shown.title}</span>
              <Tags tags={[...retracted, ...shown.tags]} />
            </span>
            <When date={entry.date} />
            {(kind || shown.note) && (
              <span class="note">
                {kind}
                {kind && shown.note && " · "}
                {shown.note}
              </span>
            )}
          </>
        }
      >
        {() => <Details shown={shown} resource={entry.resource} record={record} />}
      </Disclosure>
    </li>
  );
}

export function Details({
  shown,
  resource,
  record,
}: {
  shown: Description;
  resource: FhirResource;
  record: Record;
}): JSX.Element {
  const facts = shown.facts.filter(([, value]) => value !== "");
  const files = shown.files.filter((one): one is Attachment => typeof one === "object" && one !== null);
  return (
    <>
      {facts.length > 0 && <Facts facts={facts} />}
      {files.length > 0 && <Files files={files} owner={resource} record={record} />}
      <Json resource={resource} />
    </>
  );
}

/** Labelled values. A long value has a row of its own on phones. */
export function Facts({ facts }: { facts: readonly (readonly string[])[] }): JSX.Element {
  return (
    <dl>
      {facts.map(([name, value = ""]) => (
        <div key={name} class={value.length > LONG ? "long" : undefined}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const LONG = 20;

/** The number of characters of JSON that the page shows. */
const LONGEST_JSON = 100_000;

export function Json({ resource }: { resource: FhirResource }): JSX.Element {
  return (
    <Disclosure class="json" summary="Show as FHIR JSON">
      {() => {
        const all = printed(resource);
        const cut = all.length > LONGEST_JSON;
        return (
          <>
            <pre tabIndex={0}>{cut ? all.slice(0, LONGEST_JSON) : all}</pre>
            {cut && (
              <p class="soft">The file has {count(all.length - LONGEST_JSON)} more characters of this resource.</p>
            )}
          </>
        );
      }}
    </Disclosure>
  );
}

function printed(resource: FhirResource): string {
  try {
    return JSON.stringify(resource, null, 2);
  } catch {
    return "This resource is nested too deeply to be shown. You can find it in the file.";
  }
}
