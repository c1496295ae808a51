/** The parts that all sections of the page share. */
import type { ComponentChildren, JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Attachment, FhirResource } from "fhir/r4";
import { dateText } from "./dates.ts";
import { describe, type Description } from "./describe.ts";
import type { Entry, Record } from "./record.ts";
import type { Tag } from "./observation.ts";
import { Files } from "./files.tsx";

/** The number of items that a list shows at first, and adds with each press of its button. */
const PORTION = 20;

/** A list that shows its items in portions. Each item must render an li element that can get the focus. */
export function Portions<T>({
  items,
  children,
  class: name = "rows",
}: {
  items: readonly T[];
  children: (item: T, index: number) => JSX.Element;
  class?: string;
}): JSX.Element {
  const [shown, setShown] = useState(PORTION);
  const element = useRef<HTMLUListElement>(null);
  const more = Math.min(PORTION * (shown > PORTION ? 5 : 1), items.length - shown);
  const grow = (): void => {
    setShown(shown + more);
    requestAnimationFrame(() => {
      const next = element.current?.children[shown];
      next?.querySelector<HTMLElement>("summary")?.focus();
    });
  };
  return (
    <>
      <ul class={name} ref={element}>
        {items.slice(0, shown).map(children)}
      </ul>
      {more > 0 && (
        <button type="button" class="more" onClick={grow}>
          Show {more} more <span class="soft">of {count(items.length - shown)}</span>
        </button>
      )}
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
            <span class={retracted.length > 0 ? "title struck" : "title"}>{shown.title}</span>
            <Tags tags={[...retracted, ...shown.tags]} />
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
      {facts.length > 0 && (
        <dl>
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {files.length > 0 && <Files files={files} owner={resource} record={record} />}
      <Json resource={resource} />
    </>
  );
}

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
    return "This resource is nested too deeply to be shown. The file has it.";
  }
}
