/** One webhook, in sections with a URL each. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Delivery, DeliveryDetail, Listed, Webhook as Record, WebhookType } from "../api/records.ts";
import { useAction, useHere, useQuery } from "../app/app.ts";
import { Button, Copy, Field, Form, LinkButton, Load, Notice, Panel, Title, Trouble } from "../parts/controls.tsx";
import { Badge, Facts, Id, Time } from "../parts/show.tsx";
import { explain } from "../parts/receiver.ts";
import { List } from "./deliveries.tsx";
import { Recover, replaying } from "./webhookreplay.tsx";
import { stateOf, type WebhookProps } from "./webhooks.tsx";
import { End, Settings } from "./webhooksettings.tsx";
import { Secret, SigningKey } from "./webhooksigning.tsx";

const REASONS = {
  gone: "Your endpoint returned 410 Gone.",
  asked: "Your endpoint’s response asked us to disable the webhook.",
  failing: "Every delivery attempt failed for five days.",
  by_hand: "A member disabled the webhook.",
} as const;

export function Webhook({ id }: { id: string }): JSX.Element {
  const { base, link } = useHere();
  const path = `${base}/webhooks/${encodeURIComponent(id)}`;
  const answer = useQuery<Record>(path);
  return (
    <>
      <p class="back">
        <a href={link("webhooks")}>Webhooks</a>
      </p>
      <Title>Webhook</Title>
      <Load answer={answer}>{(data) => <Whole path={path} data={data} reload={answer.reload} />}</Load>
    </>
  );
}

const SECTIONS = [
  ["", "Overview"],
  ["signing", "Signing"],
  ["settings", "Settings"],
  ["removal", "Disable or remove"],
] as const;

function Whole(props: WebhookProps): JSX.Element {
  const { may, link, place } = useHere();
  const { data } = props;
  if (!may("develop")) return <Status {...props} />;
  const section = SECTIONS.find(([name]) => name === place.filters["section"])?.[0] ?? "";
  return (
    <>
      {data.disabled && <Disabled {...props} />}
      <div class="sections" role="navigation" aria-label="Webhook">
        {SECTIONS.map(([name, title]) => (
          <a
            key={name}
            href={link("webhooks", data.webhook_id, { section: name })}
            aria-current={name === section ? "page" : undefined}
          >
            {title}
          </a>
        ))}
      </div>
      {section === "" && <Status {...props} />}
      {section === "signing" && (
        <>
          <Secret {...props} />
          <SigningKey {...props} />
        </>
      )}
      {section === "settings" && <Settings {...props} />}
      {section === "removal" && <End {...props} />}
    </>
  );
}

function Status({ path, data }: WebhookProps): JSX.Element {
  const { may, base } = useHere();
  const latest = useQuery<Listed<"deliveries", Delivery>>(`${base}/deliveries`, { webhook_id: data.webhook_id });
  const { health } = data;
  return (
    <>
      <Panel title="Status" actions={<Badge of={stateOf(data)} />}>
        <Facts
          of={[
            ["URL", <span class="break">{data.url}</span>],
            data.note !== "" && ["Note", data.note],
            [
              "ID",
              <>
                <Id of={data.webhook_id} /> <Copy text={data.webhook_id} what="webhook ID" />
              </>,
            ],
            health.failures > 0 && [
              "Failing since",
              <>
                <Time at={health.failing_since} exact />, {health.failures} failed attempts
              </>,
            ],
            health.paused_until !== undefined && ["Paused until", <Time at={health.paused_until} exact />],
            health.slow_until !== undefined && [
              "Slow",
              `This webhook takes ${health.answer_ms ?? 0} ms to respond. Slow webhooks don’t delay other webhooks.`,
            ],
            ["Last failure", <Time at={health.last_failure_at} />],
            ["Created", <Time at={data.created_at} exact />],
          ]}
        />
      </Panel>
      {may("develop") && !data.disabled && <Simulate path={path} done={latest.reload} />}
      <Panel
        title="Latest deliveries"
        actions={
          <>
            <Button onClick={latest.reload}>Refresh</Button>
            {may("develop") && <Recover path={path} done={latest.reload} />}
          </>
        }
      >
        <Load answer={latest}>
          {({ deliveries }) => (
            <List
              deliveries={deliveries.slice(0, 10)}
              none="No deliveries yet. Send a test event to see its delivery here."
            />
          )}
        </Load>
      </Panel>
    </>
  );
}

function Disabled({ path, data, reload }: WebhookProps): JSX.Element {
  const { api, may, say, link } = useHere();
  const action = useAction();
  const enable = (replay: boolean) => () =>
    action.run(async () => {
      const { replayed } = await api.post<{ replayed: number }>(`${path}/enable`, { replay_missed: replay });
      say(replay ? `Webhook enabled. ${replaying(replayed)}` : "Webhook enabled.");
      reload();
    });
  return (
    <Notice tone="bad">
      <p>
        <strong>This webhook was disabled</strong> <Time at={data.disabled?.at} />.{" "}
        {REASONS[data.disabled?.reason ?? "by_hand"]}
      </p>
      <p>
        <a href={link("deliveries", "", { webhook_id: data.webhook_id, status: "held" })}>Missed events</a> are kept for
        15 days, so that you can replay them.
      </p>
      {may("develop") && (
        <div class="row">
          <Button kind="main" busy={action.busy} onClick={enable(true)}>
            Enable and replay
          </Button>
          <Button busy={action.busy} onClick={enable(false)}>
            Enable
          </Button>
        </div>
      )}
      <Trouble failure={action.failure} />
    </Notice>
  );
}

function Simulate({ path, done }: { path: string; done: () => void }): JSX.Element {
  const { api, base, link } = useHere();
  const known = useQuery<{ types: WebhookType[] }>(`${base}/webhook-types`);
  const [type, setType] = useState("webhook.test");
  const [sent, setSent] = useState<string>();
  const action = useAction();
  const send = async (): Promise<void> => {
    const { delivery_id: id } = await api.post<{ delivery_id: string }>(`${path}/simulate`, { type });
    setSent(id);
    done();
  };
  return (
    <Panel title="Simulate" lead="Send a sample event, signed like a real one.">
      <Form action={action} does={send} send="Send test event" isDisposable>
        <Field
          label="Event"
          value={type}
          set={setType}
          choices={known.data?.types.map((one) => [one.type, `${one.title} (${one.type})`] as const) ?? [type]}
        />
      </Form>
      {sent && (
        <>
          <Outcome key={sent} id={sent} />
          <LinkButton kind="main" href={link("deliveries", sent)}>
            View delivery
          </LinkButton>
        </>
      )}
    </Panel>
  );
}

/** Shows the result of a test event as soon as an attempt has ended. */
function Outcome({ id }: { id: string }): JSX.Element {
  const { base } = useHere();
  const { data } = useQuery<DeliveryDetail>(`${base}/deliveries/${id}`, {}, (one) => one.attempts.length === 0);
  const last = data?.attempts.at(-1);
  if (last === undefined) {
    return (
      <Notice>
        <p role="status">Your test event was queued. The result will appear here.</p>
      </Notice>
    );
  }
  const { failure = "", status = 0, latency_ms: ms } = last;
  return (
    <Notice tone={failure === "" ? "good" : "bad"}>
      <p role="status">
        <strong>
          {status === 0
            ? "Your endpoint didn’t respond."
            : `Your endpoint responded with status ${status} in ${ms} ms.`}
        </strong>{" "}
        {explain(last)}
      </p>
    </Notice>
  );
}
