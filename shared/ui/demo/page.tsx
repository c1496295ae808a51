/** Components of the playground. main.tsx holds their state. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { Control } from "./manifest.ts";
import { DIALECTS, snippet } from "./snippet.ts";
import type { Choice, Dialect } from "./snippet.ts";

export interface Entry {
  id: number;
  at: string;
  name: string;
  detail: string;
}

interface FieldProps {
  control: Control;
  value: string | undefined;
  /** Receives undefined to remove the attribute. */
  onChange: (value: string | undefined) => void;
}

/** A control for one attribute or property, by its kind. */
export function Field({ control, value, onChange }: FieldProps): JSX.Element {
  const id = `set-${control.name}`;
  const help = control.help === "" ? undefined : `${id}-help`;
  return (
    <div class={`field ${control.kind}`}>
      <label for={id}>{control.name}</label>
      {control.kind === "switch" && (
        <input
          id={id}
          type="checkbox"
          checked={value !== undefined}
          aria-describedby={help}
          onChange={(e) => onChange(e.currentTarget.checked ? "" : undefined)}
        />
      )}
      {control.kind === "choice" && (
        <select
          id={id}
          value={value ?? ""}
          aria-describedby={help}
          onChange={(e) => onChange(e.currentTarget.value || undefined)}
        >
          <option value="">{control.standard === "" ? "not set" : `not set (${control.standard})`}</option>
          {control.choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      )}
      {control.kind === "text" && (
        <input
          id={id}
          type="text"
          value={value ?? ""}
          placeholder={control.standard}
          autocomplete="off"
          spellcheck={false}
          aria-describedby={help}
          onInput={(e) => onChange(e.currentTarget.value || undefined)}
        />
      )}
      {help !== undefined && (
        <p id={help} class="help">
          {control.help}
        </p>
      )}
    </div>
  );
}

/** A section with a heading. */
export function Panel({
  name,
  title,
  children,
}: {
  name: string;
  title: string;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <section class={`panel ${name}`} aria-labelledby={`${name}-title`}>
      <h2 id={`${name}-title`}>{title}</h2>
      {children}
    </section>
  );
}

function CopyButton({ text }: { text: string }): JSX.Element {
  const [said, say] = useState("Copy");
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => say("Copied"),
      () => say("Select and copy the text"),
    );
  };
  return (
    <button type="button" onClick={copy} onBlur={() => say("Copy")} aria-live="polite">
      {said}
    </button>
  );
}

/** The code of the current choice, in several dialects. */
export function Snippet({ choice }: { choice: Choice }): JSX.Element {
  const [dialect, choose] = useState<Dialect>("HTML");
  const code = snippet(dialect, choice);
  return (
    <Panel name="snippet" title="Your code">
      <div class="row">
        <div class="row" role="group" aria-label="Code language">
          {DIALECTS.map((one) => (
            <button key={one} type="button" aria-pressed={one === dialect} onClick={() => choose(one)}>
              {one}
            </button>
          ))}
        </div>
        <CopyButton key={code} text={code} />
      </div>
      <pre tabIndex={0} role="region" aria-label={`Code, ${dialect}`}>
        {code}
      </pre>
    </Panel>
  );
}

/** Events of the element, newest first. */
export function Log({ entries, onClear }: { entries: readonly Entry[]; onClear: () => void }): JSX.Element {
  return (
    <Panel name="log" title="Events">
      <div class="row">
        <p class="help" role="status">
          {entries.length === 0
            ? "No events yet. Connect to the sandbox hospital to see events."
            : `${entries.length} ${entries.length === 1 ? "event" : "events"} so far, newest first.`}
        </p>
        <button type="button" onClick={onClear} disabled={entries.length === 0}>
          Clear
        </button>
      </div>
      <ol reversed>
        {entries.map((entry) => (
          <li key={entry.id}>
            <p>
              <strong>{entry.name}</strong> <time>{entry.at}</time>
            </p>
            <pre tabIndex={0} role="region" aria-label={`Payload of ${entry.name} at ${entry.at}`}>
              {entry.detail}
            </pre>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
