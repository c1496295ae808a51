/** One delivery with its attempts: requests, responses and latency. */
import type { JSX } from "preact";
import type { DeliveryAttempt, DeliveryDetail, Webhook } from "../api/records.ts";
import { useAction, useHere, useQuery } from "../app/app.ts";
import { Button, Copy, Empty, Load, Panel, Title, Trouble } from "../parts/controls.tsx";
import { Badge, Code, Facts, Id, pretty, Time } from "../parts/show.tsx";
import { explain } from "../parts/receiver.ts";
import { curl } from "../parts/snippets.ts";

/** Reports whether an attempt is running or will start within a minute. */
export const isDue = ({ status, next_at: at }: DeliveryDetail): boolean =>
  status === "inflight" || (status === "scheduled" && Date.parse(at ?? "") < Date.now() + 60_000);

export function Delivery({ id }: { id: string }): JSX.Element {
  const { base, link } = useHere();
  const path = `${base}/deliveries/${encodeURIComponent(id)}`;
  const answer = useQuery<DeliveryDetail>(path, {}, isDue);
  return (
    <>
      <p class="back">
        <a href={link("deliveries")}>Deliveries</a>
      </p>
      <Title>Delivery</Title>
      <Load answer={answer}>{(data) => <Whole path={path} data={data} reload={answer.reload} />}</Load>
    </>
  );
}

function Whole({ path, data, reload }: { path: string; data: DeliveryDetail; reload: () => void }): JSX.Element {
  const { api, may, link, say, base } = useHere();
  const url = useQuery<Webhook>(`${base}/webhooks/${data.webhook_id}`).data?.url; // undefined if the webhook was removed
  const action = useAction();
  const replay = (): void =>
    action.run(async () => {
      await api.post(`${path}/replay`);
      say("Sending the event again.");
      reload();
    });
  return (
    <>
      <Panel
        title={data.type || "Event"}
        actions={
          <>
            <Button onClick={reload}>Refresh</Button>
            {may("develop") && data.status !== "inflight" && (
              <Button busy={action.busy} onClick={replay}>
                {data.status === "scheduled" ? "Retry now" : "Replay"}
              </Button>
            )}
          </>
        }
      >
        <Trouble failure={action.failure} />
        <Facts
          of={[
            ["Status", <Badge of={data.status} />],
            data.status === "scheduled" && ["Next attempt", <Time at={data.next_at} />],
            [
              "Webhook",
              <a class="break" href={link("webhooks", data.webhook_id)}>
                {url ?? data.webhook_id}
              </a>,
            ],
            [
              "Event",
              <>
                <Id of={data.event_id} /> <Copy text={data.event_id} what="event ID" />
              </>,
            ],
            data.org_connection_id
              ? [
                  "Connection",
                  <a href={link("connections", data.org_connection_id)}>
                    <Id of={data.org_connection_id} />
                  </a>,
                ]
              : undefined,
            data.external_id ? ["External ID", <span class="break">{data.external_id}</span>] : undefined,
            ["Created", <Time at={data.created_at} exact />],
          ]}
        />
      </Panel>
      <Panel title="Attempts" lead="We retry failed attempts on a schedule for up to three days.">
        {data.attempts.length === 0 ? (
          <Empty title="No attempts yet.">
            <Button onClick={reload}>Refresh</Button>
          </Empty>
        ) : (
          <ol class="attempts">
            {[...data.attempts].reverse().map((attempt, i) => (
              <li key={`${attempt.number} ${attempt.at}`}>
                <One
                  attempt={attempt}
                  url={url}
                  body={data.body}
                  hasLinks={data.type === "patient.ehi_export_success"}
                  open={i === 0}
                />
              </li>
            ))}
          </ol>
        )}
      </Panel>
      <Panel title="Body" lead="The body is identical in every attempt. Tokens in download links are hidden here.">
        {data.body === undefined ? (
          <p class="soft">
            {may("inspect") ? "This event has been deleted." : "Your role doesn’t allow you to view payloads."}
          </p>
        ) : (
          <Code label="Event body" text={pretty(data.body)} />
        )}
      </Panel>
    </>
  );
}

function One({
  attempt,
  url,
  body,
  hasLinks,
  open,
}: {
  attempt: DeliveryAttempt;
  url: string | undefined;
  body: string | undefined;
  hasLinks: boolean;
  open: boolean;
}): JSX.Element {
  const { failure = "", status = 0, request_headers: sent, response_headers: answered = {} } = attempt;
  return (
    <details open={open}>
      <summary>
        <Badge of={status === 0 ? failure : String(status)} tone={failure === "" ? "good" : "bad"} />
        <span>
          Attempt {attempt.number}
          {attempt.trigger === "manual" && ", manual"}
        </span>
        <Time at={attempt.at} exact />
        <span class="soft">{attempt.latency_ms} ms</span>
      </summary>
      {failure !== "" && <p>{explain(attempt)}</p>}
      {sent && (
        <>
          <h3>Request headers</h3>
          <Headers of={sent} label={`Request headers for attempt ${attempt.number}`} />
          <h3>Response</h3>
          {status === 0 ? (
            <p class="soft">No response.</p>
          ) : (
            <Headers of={answered} label={`Response headers for attempt ${attempt.number}`} />
          )}
          {attempt.response && <Code label={`Response to attempt ${attempt.number}`} text={pretty(attempt.response)} />}
        </>
      )}
      {sent && url !== undefined && body !== undefined && (
        <div class="row">
          <Copy label="Copy as curl" what={`attempt ${attempt.number}`} text={curl(url, sent, body)} />
          {hasLinks && <span class="soft">The signature won’t match, because the body lacks its download tokens.</span>}
        </div>
      )}
    </details>
  );
}

function Headers({ of, label }: { of: { [name: string]: string }; label: string }): JSX.Element | null {
  const all = Object.entries(of).map(([name, value]) => `${name}: ${value}`);
  return all.length === 0 ? null : <Code label={label} text={all.join("\n")} />;
}
