/** One connection: its history, its problems, and the recommended actions. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { ConnectionDetail, ErasureState } from "../api/records.ts";
import { useHere, useQuery } from "../app/app.ts";
import type { Answer } from "../app/app.ts";
import { Button, Copy, Load, Notice, Panel, Title, Trouble } from "../parts/controls.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Badge, counted, Facts, Id, Time } from "../parts/show.tsx";
import { ExportList } from "./exports.tsx";

export function Connection({ id }: { id: string }): JSX.Element {
  const { base, link, may } = useHere();
  const path = `${base}/connections/${encodeURIComponent(id)}`;
  const answer = useQuery<ConnectionDetail>(path);
  return (
    <>
      <p class="back">
        <a href={link("connections")}>Connections</a>
      </p>
      <Title>Connection</Title>
      {may("own") && answer.failure?.status === 404 ? (
        <Gone path={path} lost={answer} />
      ) : (
        <Load answer={answer}>{(data) => <Whole path={path} data={data} reload={answer.reload} />}</Load>
      )}
    </>
  );
}

/** Texts of the timeline's events. */
const FACTS: Record<string, string> = {
  connected: "The patient connected.",
  tokens_renewed: "Access was last renewed.",
  renewal_refused: "The portal refused to renew access.",
  ended: "The connection ended.",
  export_begun: "An export started.",
  export_succeeded: "An export succeeded.",
  export_failed: "An export failed.",
};

function Whole({ path, data, reload }: { path: string; data: ConnectionDetail; reload: () => void }): JSX.Element {
  const { link } = useHere();
  const { renewal } = data;
  return (
    <>
      <Panel title={data.endpoint_name ?? "Institution"} actions={<Badge of={data.status} />}>
        <Facts
          of={[
            [
              "ID",
              <>
                <Id of={data.org_connection_id} /> <Copy text={data.org_connection_id} what="connection ID" />
              </>,
            ],
            data.external_id
              ? [
                  "External ID",
                  <>
                    <span class="break">{data.external_id}</span> <Copy text={data.external_id} what="external ID" />
                  </>,
                ]
              : undefined,
            ["Platform", data.platform_type],
            data.endpoint_id ? ["Endpoint", <Id of={data.endpoint_id} />] : undefined,
            data.tefca_directory_id
              ? ["TEFCA facility", <span class="break">{data.tefca_directory_id}</span>]
              : undefined,
            data.consent_expires_at ? ["Consent expires", <Time at={data.consent_expires_at} exact />] : undefined,
            data.ended_at ? ["Ended", <Time at={data.ended_at} exact />] : undefined,
            renewal.next_at ? ["Next renewal", <Time at={renewal.next_at} />] : undefined,
            renewal.failures > 0 && ["Failed renewals", renewal.failures],
            data.scope ? ["Scope", <span class="break">{data.scope}</span>] : undefined,
            data.cause ? ["Cause", <code>{data.cause}</code>] : undefined,
          ]}
        />
        <Notice tone={data.suggested_action ? "warn" : "good"}>
          <p>
            <strong>What to do:</strong> {data.suggested_action || "No action is needed. The connection is healthy."}
          </p>
        </Notice>
      </Panel>
      <Panel title="Timeline">
        <ol class="timeline">
          {data.timeline.map(({ at, what, task_id: task }) => (
            <li key={at + what}>
              <Time at={at} exact />
              <span>
                {FACTS[what] ?? what} {task && <a href={link("exports", task)}>View export</a>}
              </span>
            </li>
          ))}
        </ol>
      </Panel>
      <Panel title="Exports">
        <ExportList
          exports={data.exports.map((one) => ({ ...one, org_connection_id: data.org_connection_id }))}
          none="No exports yet."
        />
      </Panel>
      <End path={path} data={data} reload={reload} />
    </>
  );
}

function End({ path, data, reload }: { path: string; data: ConnectionDetail; reload: () => void }): JSX.Element | null {
  const { api, may, say } = useHere();
  const [asked, ask] = useState<"disconnect" | "erase">();
  const [erasure, setErasure] = useState<ErasureState>();
  const short = data.org_connection_id.slice(0, 8);
  const canDisconnect = may("develop") && data.status === "authorized";
  if (!canDisconnect && !may("own")) return null;
  const close = (): void => ask(undefined);
  const disconnect = async (): Promise<void> => {
    await api.post(`${path}/disconnect`);
    close();
    say("Patient disconnected. We’re asking the portal to revoke access.");
    reload();
  };
  const erase = async (): Promise<void> => {
    setErasure(await api.post<ErasureState>(`${path}/erase`));
    close();
  };
  if (erasure) return <Erased data={erasure} reload={reload} />;
  return (
    <Panel
      title="End connection"
      lead="Disconnecting revokes access but keeps the history. Erasing deletes everything except the audit log entry."
    >
      <div class="row">
        {canDisconnect && <Button onClick={() => ask("disconnect")}>Disconnect</Button>}
        {may("own") && (
          <Button kind="bad" onClick={() => ask("erase")}>
            Erase
          </Button>
        )}
      </div>
      {asked === "disconnect" && (
        <Confirm title="Disconnect" name={short} send="Disconnect" close={close} does={disconnect}>
          <p>
            This connection’s exports will stop, and their files will be deleted. We’ll ask the portal to revoke access.
            Revocation can take a few minutes. The patient must reconnect before you can export again.
          </p>
        </Confirm>
      )}
      {asked === "erase" && (
        <Confirm title="Erase connection" name={short} send="Erase" close={close} does={erase}>
          <p>
            We’ll delete the connection’s tokens, exports, files, events and deliveries. You can’t undo this. Copies in
            your own systems won’t be deleted.
          </p>
        </Confirm>
      )}
    </Panel>
  );
}

/** Shows an erased connection for 90 days after its erasure. All other missing connections are reported as not found. */
function Gone({ path, lost }: { path: string; lost: Answer<ConnectionDetail> }): JSX.Element {
  const answer = useQuery<ErasureState>(`${path}/erasure`);
  if (answer.data) return <Erased data={answer.data} reload={answer.reload} />;
  return answer.busy ? (
    <Load answer={answer}>{() => null}</Load>
  ) : (
    <Trouble failure={lost.failure} retry={lost.reload} />
  );
}

const PORTAL = {
  nothing_to_revoke: "There were no tokens to revoke, or the portal doesn’t support revocation.",
  asked: "The portal acknowledged our request to revoke access.",
  unanswered: "The portal didn’t respond within an hour to our request to revoke access.",
} as const;

/** An erasure's progress and proof. */
function Erased({ data, reload }: { data: ErasureState; reload: () => void }): JSX.Element {
  const isDone = data.stage === "done";
  return (
    <Panel
      title={isDone ? "Erased" : "Erasure in progress"}
      lead="Erasure takes about 30 minutes, because running tasks must finish first. We’ll keep this erasure record for 90 days."
      actions={<Button onClick={reload}>Refresh</Button>}
    >
      <Facts
        of={[
          ["Stage", <Badge of={data.stage} />],
          [
            "Erasure ID",
            <>
              <Id of={data.erasure_id} /> <Copy text={data.erasure_id} what="erasure ID" />
            </>,
          ],
          ["Requested", <Time at={data.requested_at} exact />],
          data.finished_at ? ["Finished", <Time at={data.finished_at} exact />] : undefined,
          data.portal && ["Portal", PORTAL[data.portal]],
          [
            "Deleted",
            Object.entries(data.counts)
              .map(([kind, count]) => `${counted(count)} ${kind}`)
              .join(", "),
          ],
        ]}
      />
    </Panel>
  );
}
