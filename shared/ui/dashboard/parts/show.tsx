/** Components that display values: times, statuses, IDs, secrets, tables and code. */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { useUnsaved } from "../app/app.ts";
import { Button, Copy } from "./controls.tsx";
import { encode, outline } from "./qr.ts";

const day = new Intl.DateTimeFormat("en", { dateStyle: "medium" });
const minute = new Intl.DateTimeFormat("en", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "numeric",
  minute: "2-digit",
  timeZoneName: "short",
});
const second = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "long" });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

const STEPS: readonly [Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** Formats a time relative to now, in the most suitable unit. */
export function ago(at: string, now = Date.now()): string {
  const seconds = (Date.parse(at) - now) / 1000;
  const [unit, size] = STEPS.find(([, least]) => Math.abs(seconds) >= least) ?? ["second", 1];
  return Math.abs(seconds) < 5 ? "just now" : relative.format(Math.round(seconds / size), unit);
}

/**
 * A time. A recent time is shown relative to now, and an older time as a date. The tooltip and the datetime attribute
 * contain the exact value.
 */
export function Time({ at, exact }: { at: string | undefined; exact?: boolean }): JSX.Element {
  if (!at || Number.isNaN(Date.parse(at))) return <span class="soft none">–</span>;
  const date = new Date(at);
  const far = Math.abs(Date.now() - date.getTime()) > 14 * 86_400_000;
  return (
    <time dateTime={at} title={second.format(date)}>
      {exact ? minute.format(date) : far ? day.format(date) : ago(at)}
    </time>
  );
}

/** Text that may break after its punctuation, so a narrow column doesn't split the words of an email address or URL. */
export const Breakable = ({ text }: { text: string }): JSX.Element => (
  <>
    {text.split(/(?<=[@./_:-])(?=\w)/).map((part, i) => (
      <>
        {i > 0 && <wbr />}
        {part}
      </>
    ))}
  </>
);

/** The time of last use, which the service stores to the hour. */
export const Used = ({ at }: { at: string | undefined }): JSX.Element =>
  at && Date.now() - Date.parse(at) < 3_600_000 ? (
    <time dateTime={at}>within the last hour</time>
  ) : at ? (
    <Time at={at} />
  ) : (
    <span class="soft">never</span>
  );

const TONES: Record<string, string> = {
  delivered: "good",
  success: "good",
  authorized: "good",
  enabled: "good",
  ok: "good",
  answered: "good",
  active: "good",
  done: "good",
  connected: "good",
  exhausted: "bad",
  failed: "bad",
  disabled: "bad",
  failing: "bad",
  denied: "bad",
  revoked: "bad",
  held: "warn",
  rejected: "warn",
  truncated: "warn",
  unsupported: "warn",
  open: "warn",
  pending: "warn",
  cancelled: "warn",
  inflight: "warn",
};

/** A status as a word. The colour of a status repeats what the word says. */
export const Badge = ({ of, tone = TONES[of] ?? "" }: { of: string; tone?: string }): JSX.Element => (
  <span class={`badge ${tone}`}>{of.replaceAll("_", " ")}</span>
);

/** An ID, which is truncated if space is short. Copying always copies the complete ID. */
export const Id = ({ of }: { of: string }): JSX.Element => <code class="id">{of}</code>;

interface TableProps<T> {
  label: string;
  head: readonly string[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  cells: (row: T) => readonly ComponentChildren[];
}

/**
 * A table. On a narrow screen, each row becomes a card whose cells show their column headings. The card layout removes
 * the table's implicit roles, so the component sets the roles explicitly.
 */
export function Table<T>({ label, head, rows, keyOf, cells }: TableProps<T>): JSX.Element {
  return (
    <table role="table">
      <caption class="hidden">{label}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {head.map((text) => (
            <th key={text} scope="col" role="columnheader">
              {text}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            {cells(row).map((cell, i) => (
              <td key={head[i]} role="cell" data-head={head[i]}>
                <div>{cell}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A list of names and values. */
export function Facts({
  of,
}: {
  of: readonly (readonly [name: string, value: ComponentChildren] | false | undefined)[];
}): JSX.Element {
  return (
    <dl class="facts">
      {of.map(
        (fact) =>
          fact && (
            <div key={fact[0]}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** A code block that the user can scroll by keyboard and copy. */
export function Code({ text, label }: { text: string; label: string }): JSX.Element {
  return (
    <div class="code">
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{text}</code>
      </pre>
      <Copy text={text} what={label} />
    </div>
  );
}

/** Tabs. One tab's content is shown at a time. */
export function Tabs({
  label,
  names,
  children,
}: {
  label: string;
  names: readonly string[];
  children: (name: string) => ComponentChildren;
}): JSX.Element {
  const [chosen, choose] = useState(names[0] ?? "");
  return (
    <>
      <div class="row tabs" role="group" aria-label={label}>
        {names.map((name) => (
          <button key={name} type="button" class="tab" aria-pressed={name === chosen} onClick={() => choose(name)}>
            {name}
          </button>
        ))}
      </div>
      {children(chosen)}
    </>
  );
}

/** Shows a secret. If once is set, the secret can't be shown again. */
export function Shown({
  secret,
  what,
  once,
  children,
}: {
  secret: string;
  what: string;
  once?: boolean;
  children?: ComponentChildren;
}): JSX.Element {
  const declare = useUnsaved();
  useEffect(() => declare(once === true), []);
  return (
    <div class="notice warn secret" onClick={() => declare(false)} onCopy={() => declare(false)}>
      <p class="strong">
        {once ? "Copy this key now. You won’t see it again." : "Save this secret in your secrets manager."}
      </p>
      <div class="row">
        <code class="value">{secret}</code>
        <Copy text={secret} what={what} />
      </div>
      {children}
    </div>
  );
}

/** A QR code with its quiet zone. Renders nothing if the text is too long. */
export function Qr({ text, label }: { text: string; label: string }): JSX.Element | null {
  const code = useMemo(() => encode(text), [text]);
  if (code === undefined) return null;
  const side = code.length + 8;
  return (
    <svg class="qr" viewBox={`-4 -4 ${side} ${side}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <path d={outline(code)} />
    </svg>
  );
}

/** A button that loads a list's next page. Renders nothing on the list's last page. */
export function More({
  cursor,
  searchedTo,
  go,
}: {
  cursor: string | undefined;
  searchedTo?: string | undefined;
  go: (cursor: string) => void;
}): JSX.Element | null {
  if (!cursor) return null;
  return (
    <>
      {searchedTo && (
        <p role="status">
          Searched back to <Time at={searchedTo} exact />.
        </p>
      )}
      <div class="row">
        <Button onClick={() => go(cursor)}>{searchedTo ? "Continue searching" : "Show older"}</Button>
      </div>
    </>
  );
}

/** Formats JSON for reading, and returns other text unchanged. */
export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

export const counted = (count: number): string => count.toLocaleString("en");

export function bytes(count: number): string {
  const units = ["B", "kB", "MB", "GB"];
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, count)) / 3));
  return `${(count / 1000 ** step).toFixed(step === 0 ? 0 : 1)} ${units[step]}`;
}
