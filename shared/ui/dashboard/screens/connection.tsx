/** One connection: what has happened to it, why, and what helps. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { ConnectionDetail, ErasureState } from "../api/records.ts";
import { useHere, useQuery } from "../app/app.ts";
import type { Answer } from "../app/app.ts";
import { Button, Confirm, Copy, Load, Notice, Panel, Title, Trouble } from "../parts/controls.tsx";
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
      {may("own") && answer.failure?.status === 404 ? <Gone path={path} lost={answer} /> : <Load answer={answer}>{(data) => <Whole path={path} data={data} reload={answer.reload} />}</Load>}
    </>
  );
}

/** What the words of a timeline say. */
const FACTS: Record<string, string> = {
  connected: "The patient connected.",
  tokens_renewed: "The portal renewed its access, for the last time so far.",
  renewal_refused: "The portal refused to renew it.",
  ended: "It ended.",
  export_begun: "An export began.",
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
            ["Id", <><Id of={data.org_connection_id} /> <Copy text={data.org_connection_id} what="connection id" /></>],
            ["Platform", data.platform_type],
            data.endpoint_id ? ["Endpoint", <Id of={data.endpoint_id} />] : undefined,
            data.tefca_directory_id ? ["TEFCA facility", <span class="break">{data.tefca_directory_id}</span>] : undefined,
            data.consent_expires_at ? ["Consent ends", <Time at={data.consent_expires_at} exact />] : undefined,
            data.ended_at ? ["Ended", <Time at={data.ended_at} exact />] : undefined,
            renewal.next_at ? ["Access is renewed", <Time at={renewal.next_at} />] : undefined,
            renewal.failures > 0 && ["Renewals that failed", renewal.failures],
            data.scope ? ["Scope", <span class="break">{data.scope}</span>] : undefined,
            data.cause ? ["Cause", <code>{data.cause}</code>] : undefined,
          ]}
        />
        <Notice tone={data.suggested_action ? "warn" : "good"}>
          <p>
            <strong>What to do:</strong> {data.suggested_action || "Nothing, it is well."}
          </p>
        </Notice>
      </Panel>
      <Panel title="What has happened">
        <ol class="timeline">
          {data.timeline.map(({ at, what, task_id: task }) => (
            <li key={at + what}>
              <Time at={at} exact />
              <span>
                {FACTS[what] ?? what} {task && <a href={link("exports", task)}>See it</a>}
              </span>
            </li>
          ))}
        </ol>
      </Panel>
      <Panel title="Exports">
        <ExportList exports={data.exports.map((one) => ({ ...one, org_connection_id: data.org_connection_id }))} none="No record of it was asked for yet." />
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
    say("Disconnected. We're asking the portal to revoke access.");
    reload();
  };
  const erase = async (): Promise<void> => {
    setErasure(await api.post<ErasureState>(`${path}/erase`));
    close();
  };
  if (erasure) return <Erased data={erasure} reload={reload} />;
  return (
    <Panel title="End it" lead="Disconnecting gives the authorization back, and keeps what is known of it. Erasing leaves nothing but the line of the audit log.">
      <div class="row">
        {canDisconnect && <Button onClick={() => ask("disconnect")}>Disconnect</Button>}
        {may("own") && <Button kind="bad" onClick={() => ask("erase")}>Erase</Button>}
      </div>
      {asked === "disconnect" && (
        <Confirm title="Disconnect" name={short} send="Disconnect" close={close} does={disconnect}>
          <p>Exports end, and their files are deleted. We ask the portal to revoke access, which can take a few minutes. The patient has to reconnect for new exports.</p>
        </Confirm>
      )}
      {asked === "erase" && (
        <Confirm title="Erase the connection" name={short} send="Erase" close={close} does={erase}>
          <p>Its tokens, exports, files, events and deliveries are removed. That cannot be taken back. What your own systems hold stays there.</p>
        </Confirm>
      )}
    </Panel>
  );
}

/** What is not there was never there, or was erased, which is shown for 90 days. */
function Gone({ path, lost }: { path: string; lost: Answer<ConnectionDetail> }): JSX.Element {
  const answer = useQuery<ErasureState>(`${path}/erasure`);
  if (answer.data) return <Erased data={answer.data} reload={answer.reload} />;
  return answer.busy ? <Load answer={answer}>{() => null}</Load> : <Trouble failure={lost.failure} retry={lost.reload} />;
}

const PORTAL = {
  nothing_to_revoke: "There was nothing that it could take back.",
  asked: "It was asked to take its grant back, and has answered.",
  unanswered: "It was asked to take its grant back, and has not answered within an hour.",
} as const;

/** How far an erasure is, and what proves it. */
function Erased({ data, reload }: { data: ErasureState; reload: () => void }): JSX.Element {
  const isDone = data.stage === "done";
  return (
    <Panel title={isDone ? "Erased" : "It is being erased"} lead="It takes about half an hour, since what may still be at work is waited for. This is kept for 90 days after that." actions={<Button onClick={reload}>Look again</Button>}>
      <Facts
        of={[
          ["Stage", <Badge of={data.stage} />],
          ["Number", <><Id of={data.erasure_id} /> <Copy text={data.erasure_id} what="number of the erasure" /></>],
          ["Asked", <Time at={data.requested_at} exact />],
          data.finished_at ? ["Done", <Time at={data.finished_at} exact />] : undefined,
          data.portal && ["Portal", PORTAL[data.portal]],
          ["Removed", Object.entries(data.counts).map(([kind, count]) => `${counted(count)} ${kind}`).join(", ")],
        ]}
      />
    </Panel>
  );
}
