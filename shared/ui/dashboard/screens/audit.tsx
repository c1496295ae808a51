/** The organisation's audit log, for both modes, with filters. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { AuditChange, AuditRow } from "../api/records.ts";
import { useAction, useHere, useQuery } from "../app/app.ts";
import { actionOf, describe, OBJECTS } from "../parts/auditwords.ts";
import { Button, Empty, Field, LinkButton, Load, Notice, Title, Trouble } from "../parts/controls.tsx";
import { Breakable, More, Table, Time } from "../parts/show.tsx";
import { actorOf, targetOf, useKnown } from "./auditnames.ts";
import type { Known } from "./auditnames.ts";
import { Late, useFilters, withDays } from "./deliveries.tsx";
import { download } from "./usage.tsx";

export function Audit(): JSX.Element {
  const { may } = useHere();
  return may("manage") ? (
    <Log />
  ) : (
    <>
      <Title>Audit log</Title>
      <Notice>
        <p>Only owners and admins can see the audit log.</p>
      </Notice>
    </>
  );
}

function Log(): JSX.Element {
  const { api, link, orgBase, org } = useHere();
  const known = useKnown();
  const { filters, set, go } = useFilters("audit");
  const { cursor, ...rest } = withDays(filters);
  const answer = useQuery<{ rows: AuditRow[]; next?: number }>(`${orgBase}/audit`, {
    ...rest,
    before: cursor,
  });
  const action = useAction();
  const [head, setHead] = useState("");
  const save = (): void =>
    action.run(async () => {
      const chain = await api.get<{ ndjson: string; seq: number; hash: string }>(`${orgBase}/audit/export`);
      download(new Blob([chain.ndjson], { type: "application/x-ndjson" }), `audit-${org.id}.ndjson`);
      setHead(`${chain.seq} ${chain.hash}`);
    });
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <Title
        lead="Each row contains the previous row’s hash, so tampering is detectable. You can verify an exported log without our help."
        actions={
          <Button busy={action.busy} onClick={save}>
            Export
          </Button>
        }
      >
        Audit log
      </Title>
      <Trouble failure={action.failure} />
      {head !== "" && (
        <Notice tone="good">
          <p>
            The export’s last row has this number and hash. Store them separately so that you can detect a truncated
            export.
          </p>
          <code class="value">{head}</code>
        </Notice>
      )}
      <Filters known={known} filters={filters} set={set} />
      <Load answer={answer}>
        {({ rows, next }) => (
          <>
            {rows.length > 0 ? (
              <Rows rows={rows} known={known} />
            ) : next ? (
              <Empty title="No matching changes found so far." />
            ) : isFiltered ? (
              <Empty title="No changes match these filters.">
                <LinkButton href={link("audit")}>Show all</LinkButton>
              </Empty>
            ) : (
              <Empty title="No changes yet." />
            )}
            <More cursor={next ? String(next) : undefined} go={go} />
          </>
        )}
      </Load>
    </>
  );
}

interface FiltersProps {
  known: Known;
  filters: Record<string, string>;
  set: (name: string) => (value: string) => void;
}

function Filters({ known, filters, set }: FiltersProps): JSX.Element {
  const actors: (readonly [string, string])[] = [
    ["", "any"],
    ...(known.members ?? []).map(({ account_id: id, email }) => [`member:${id}`, email] as const),
    ["operator", "Operator"],
  ];
  const { actor = "", action = "" } = filters;
  return (
    <div class="filters" role="search" aria-label="Filters">
      <Field label="Actor" value={actor} set={set("actor")} choices={including(actors, actor)} />
      <Field label="Changed object" value={action} set={set("action")} choices={including(OBJECTS, action)} />
      <Late label="Target ID" value={filters["target"] ?? ""} set={set("target")} />
      <Field label="From" type="date" value={filters["from"] ?? ""} set={set("from")} />
      <Field label="To" type="date" value={filters["to"] ?? ""} set={set("to")} />
    </div>
  );
}

/** Returns choices that include a value from the URL, such as a former member or a complete action. */
const including = (choices: readonly (readonly [string, string])[], value: string): (readonly [string, string])[] =>
  choices.some(([of]) => of === value) ? [...choices] : [...choices, [value, actionOf(value)]];

function Rows({ rows, known }: { rows: AuditRow[]; known: Known }): JSX.Element {
  return (
    <Table
      label="Audit log"
      head={["When", "Actor", "Action", "Target", "Changes"]}
      rows={rows}
      keyOf={({ seq }) => String(seq)}
      cells={(row) => [
        <>
          <Time at={row.at} exact />
          <div class="soft">No. {row.seq}</div>
        </>,
        <Actor row={row} known={known} />,
        <>
          <span title={row.action}>{actionOf(row.action)}</span>
          <div class="soft">{row.mode ? `${row.mode} mode` : "both modes"}</div>
        </>,
        <Target row={row} known={known} />,
        <Changes of={row.changes ?? []} />,
      ]}
    />
  );
}

function Actor({ row, known }: { row: AuditRow; known: Known }): JSX.Element {
  return (
    <>
      <span class="break">
        <Breakable text={actorOf(row.actor, known.members)} />
      </span>
      {row.from && <div class="soft">from {row.from}</div>}
    </>
  );
}

function Target({ row, known }: { row: AuditRow; known: Known }): JSX.Element {
  const { text, place } = targetOf(row, known);
  return place === undefined ? (
    <span class="break">
      <Breakable text={text} />
    </span>
  ) : (
    <a class="break" href={place}>
      <Breakable text={text} />
    </a>
  );
}

function Changes({ of }: { of: AuditChange[] }): JSX.Element {
  if (of.length === 0) return <span class="soft none">–</span>;
  return (
    <ul class="changes">
      {of.map(describe).map(({ name, text }) => (
        <li key={`${name} ${text}`}>
          <span class="soft">{name}:</span> <Breakable text={text} />
        </li>
      ))}
    </ul>
  );
}
