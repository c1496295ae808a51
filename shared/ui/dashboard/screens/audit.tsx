/** The organisation's audit log, for both modes. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { AuditRow, Member } from "../api/records.ts";
import { useAction, useHere, useQuery } from "../app/app.ts";
import { Button, Empty, Load, Notice, Title, Trouble } from "../parts/controls.tsx";
import { More, Table, Time } from "../parts/show.tsx";
import { address } from "../app/router.ts";
import { download } from "./usage.tsx";

/** The screen of an audit row's target, by the first word of the row's action. */
const SCREENS: Record<string, string> = {
  webhook: "webhooks",
  delivery: "deliveries",
  connection: "connections",
  credential: "credentials",
  inquiry: "inbox",
};

/** Returns the place of an audit row's target, or undefined if the target has no screen. */
export function placeOf(
  { action, target, mode }: Pick<AuditRow, "action" | "target" | "mode">,
  org: string,
): string | undefined {
  const screen = SCREENS[action.split(".")[0] ?? ""];
  if (screen === undefined || mode === undefined) return undefined;
  if (action === "webhook.simulated")
    return address({ org, mode, screen: "deliveries", filters: { event_id: target } });
  const [id = target] = target.split(" ");
  return address({ org, mode, screen, id: screen === "credentials" ? `public_${mode}_${target}` : id });
}

/** Returns a function that names actors. Members are named by email address, and former members by ID. */
export function useWho(): (actor: string) => string {
  const { orgBase } = useHere();
  const members = useQuery<{ members: Member[] }>(`${orgBase}/members`).data?.members ?? [];
  return (actor) => members.find(({ account_id: id }) => actor.replace("member:", "") === id)?.email ?? actor;
}

export function Audit(): JSX.Element {
  const { api, orgBase, may, org } = useHere();
  const who = useWho();
  const [before, setBefore] = useState("");
  const answer = useQuery<{ rows: AuditRow[]; next?: number }>(`${orgBase}/audit`, { before });
  const action = useAction();
  const [head, setHead] = useState("");
  const save = (): void =>
    action.run(async () => {
      const chain = await api.get<{ ndjson: string; seq: number; hash: string }>(`${orgBase}/audit/export`);
      download(new Blob([chain.ndjson], { type: "application/x-ndjson" }), `audit-${org.id}.ndjson`);
      setHead(`${chain.seq} ${chain.hash}`);
    });
  if (!may("manage")) {
    return (
      <>
        <Title>Audit log</Title>
        <Notice>
          <p>Only owners and admins can see the audit log.</p>
        </Notice>
      </>
    );
  }
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
      <Load answer={answer}>
        {({ rows, next }) => (
          <>
            {rows.length === 0 ? (
              <Empty title="No changes yet." />
            ) : (
              <Table
                label="Audit log"
                head={["No.", "When", "Actor", "Action", "Target", "Mode"]}
                rows={rows}
                keyOf={({ seq }) => String(seq)}
                cells={(row) => [
                  row.seq,
                  <Time at={row.at} exact />,
                  <span class="break">{who(row.actor)}</span>,
                  <code>{row.action}</code>,
                  <Target text={who(row.target)} place={placeOf(row, org.id)} />,
                  row.mode ?? "both",
                ]}
              />
            )}
            <More cursor={next ? String(next) : undefined} go={setBefore} />
          </>
        )}
      </Load>
    </>
  );
}

const Target = ({ text, place }: { text: string; place: string | undefined }): JSX.Element =>
  place === undefined ? (
    <span class="break">{text}</span>
  ) : (
    <a class="break" href={place}>
      {text}
    </a>
  );
