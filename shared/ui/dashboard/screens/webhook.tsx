/** One webhook: its status, its tests and its settings. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Delivery, Listed, Secrets, Webhook as Record, WebhookType } from "../api/records.ts";
import { useAction, useHere, useQuery } from "../app/app.ts";
import {
  Button,
  Check,
  Confirm,
  Copy,
  Dialog,
  Field,
  Form,
  LinkButton,
  Load,
  Notice,
  Panel,
  Title,
  Trouble,
} from "../parts/controls.tsx";
import { Badge, Facts, Id, Shown as Once, Time } from "../parts/show.tsx";
import { List } from "./deliveries.tsx";
import { stateOf, Types } from "./webhooks.tsx";

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

interface PartProps {
  path: string;
  data: Record;
  reload: () => void;
}

function Whole({ path, data, reload }: PartProps): JSX.Element {
  const { may, base } = useHere();
  const latest = useQuery<Listed<"deliveries", Delivery>>(`${base}/deliveries`, { webhook_id: data.webhook_id });
  const { health } = data;
  return (
    <>
      {data.disabled && <Disabled path={path} data={data} reload={reload} />}
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
      {may("develop") && (
        <>
          <Secret path={path} data={data} reload={reload} />
          <SigningKey path={path} data={data} reload={reload} />
          <Settings key={JSON.stringify(data)} path={path} data={data} reload={reload} />
          <End path={path} data={data} reload={reload} />
        </>
      )}
    </>
  );
}

function Disabled({ path, data, reload }: PartProps): JSX.Element {
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
      <Form action={action} does={send} send="Send test event">
        <Field
          label="Event"
          value={type}
          set={setType}
          choices={known.data?.types.map((one) => [one.type, `${one.title} (${one.type})`] as const) ?? [type]}
        />
      </Form>
      {sent && (
        <Notice tone="good">
          <p role="status">Your test event was queued for delivery.</p>
          <LinkButton kind="main" href={link("deliveries", sent)}>
            View delivery
          </LinkButton>
        </Notice>
      )}
    </Panel>
  );
}

const replaying = (count: number): string => `Replaying ${count} ${count === 1 ? "delivery" : "deliveries"}.`;

/** Replays all deliveries that failed within a given period. */
function Recover({ path, done }: { path: string; done: () => void }): JSX.Element {
  const { api, say } = useHere();
  const [isAsked, setAsked] = useState(false);
  const [hours, setHours] = useState("24");
  const action = useAction();
  const replay = async (): Promise<void> => {
    const since = new Date(Date.now() - Number(hours) * 3_600_000).toISOString();
    const { replayed } = await api.post<{ replayed: number }>(`${path}/replay`, { since });
    say(replaying(replayed));
    setAsked(false);
    done();
  };
  return (
    <>
      <Button onClick={() => setAsked(true)}>Replay failed</Button>
      {isAsked && (
        <Dialog title="Replay failed" close={() => setAsked(false)}>
          <p>We’ll replay this webhook’s failed deliveries with their original IDs and payloads.</p>
          <Form action={action} does={replay} send="Replay" cancel={() => setAsked(false)}>
            <Field
              label="Period"
              value={hours}
              set={setHours}
              choices={[
                ["1", "Last hour"],
                ["24", "Last day"],
                ["72", "Last 3 days"],
                ["360", "Last 15 days"],
              ]}
            />
          </Form>
        </Dialog>
      )}
    </>
  );
}

/** Returns the time when the last old secret stops signing, or undefined if no old secret signs. The list also contains expired secrets. */
export function lastOldSecret(ends: readonly string[], now: number): string | undefined {
  return [...ends]
    .sort()
    .reverse()
    .find((end) => Date.parse(end) > now);
}

function Secret({ path, data, reload }: PartProps): JSX.Element {
  const { api } = useHere();
  const action = useAction();
  const rotation = useAction();
  const [shown, setShown] = useState<Secrets["secrets"]>([]);
  const [isAsked, setAsked] = useState(false);
  const [revokes, setRevokes] = useState(false);
  const reveal = (): void =>
    action.run(async () => setShown((await api.post<Secrets>(`${path}/secret/reveal`)).secrets));
  const close = (): void => {
    setAsked(false);
    setRevokes(false);
  };
  const rotate = async (): Promise<void> => {
    setShown([await api.post<{ secret: string }>(`${path}/secret/rotate`, { at_once: revokes })]);
    close();
    reload();
  };
  const old = lastOldSecret(data.old_secrets_end, Date.now());
  return (
    <Panel
      title="Signing secret"
      lead={
        old ? (
          <>
            Events are also signed with an older secret until <Time at={old} exact />.
          </>
        ) : (
          "Events are signed only with the current secret."
        )
      }
    >
      {shown.map(({ secret, expires_at: end }) => (
        <Once key={secret} secret={secret} what={end ? "older secret" : "signing secret"}>
          {end && (
            <p>
              Expires <Time at={end} />.
            </p>
          )}
        </Once>
      ))}
      <div class="row">
        <Button busy={action.busy} onClick={reveal}>
          Reveal
        </Button>
        <Button onClick={() => setAsked(true)}>Rotate</Button>
      </div>
      <Trouble failure={action.failure} />
      {isAsked && (
        <Dialog title="Rotate signing secret" close={close}>
          <p>
            After rotation, we’ll sign events with a new secret. For 24 hours, we’ll also sign events with the current
            secret, unless you revoke it.
          </p>
          <Form
            action={rotation}
            does={rotate}
            send={revokes ? "Revoke and rotate" : "Rotate secret"}
            kind={revokes ? "bad" : "main"}
            cancel={close}
          >
            <Check
              label="Revoke old secrets immediately"
              help="Choose this option if a secret has leaked. Your endpoint will reject events until it has the new secret."
              checked={revokes}
              set={setRevokes}
            />
          </Form>
        </Dialog>
      )}
    </Panel>
  );
}

function SigningKey({ path, data, reload }: PartProps): JSX.Element {
  const { api } = useHere();
  const action = useAction();
  const change = (does: () => Promise<void>) => () =>
    action.run(async () => {
      await does();
      reload();
    });
  return (
    <Panel
      title="Signing key"
      lead="With an Ed25519 key, your endpoint can verify signatures (v1a) without a shared secret."
    >
      {data.public_key ? (
        <>
          <p>
            <code class="value">{data.public_key}</code> <Copy text={data.public_key} what="public key" />
          </p>
          <div class="row">
            <Button kind="bad" busy={action.busy} onClick={change(() => api.remove(`${path}/signing-key`))}>
              Remove key
            </Button>
          </div>
        </>
      ) : (
        <div class="row">
          <Button busy={action.busy} onClick={change(() => api.post(`${path}/signing-key`))}>
            Add signing key
          </Button>
        </div>
      )}
      <Trouble failure={action.failure} />
    </Panel>
  );
}

/** Parses headers. Each line has the form "name: value". */
export function headersOf(text: string): { [name: string]: string } {
  const pairs = text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [name = "", ...rest] = line.split(":");
      return [name.trim(), rest.join(":").trim()] as const;
    });
  return Object.fromEntries(pairs);
}

/** Reports whether a complete URL has a different origin. Custom headers are not sent to a different origin. */
export function leaves(from: string, to: string): boolean {
  return URL.canParse(to) && URL.canParse(from) && new URL(from).origin !== new URL(to).origin;
}

function Settings({ path, data, reload }: PartProps): JSX.Element {
  const { api, base, say } = useHere();
  const known = useQuery<{ types: WebhookType[] }>(`${base}/webhook-types`);
  const action = useAction();
  const [url, setUrl] = useState(data.url);
  const [note, setNote] = useState(data.note);
  const [types, setTypes] = useState(data.types);
  const [headers, setHeaders] = useState("");
  const [bare, setBare] = useState(false);
  const [rate, setRate] = useState(String(data.rate || ""));
  const save = async (): Promise<void> => {
    const chosen = types.filter((type) =>
      known.data?.types.some((one) => one.type === type && one.default !== "required"),
    );
    const own = headers.trim() === "" && !bare ? {} : { headers: headersOf(bare ? "" : headers) };
    await api.patch(path, { url: url.trim(), note: note.trim(), types: chosen, rate: Number(rate), ...own });
    say("Saved.");
    reload();
  };
  return (
    <Panel title="Settings">
      <Form action={action} does={save} send="Save">
        <Field label="URL" type="url" value={url} set={setUrl} required maxLength={2000} />
        {data.headers.length > 0 && headers.trim() === "" && leaves(data.url, url.trim()) && (
          <Notice tone="warn">
            <p>
              This URL is on a different host, so saving will remove your custom headers ({data.headers.join(", ")}).
              Enter the headers again below if the new endpoint needs them.
            </p>
          </Notice>
        )}
        <Field label="Note" value={note} set={setNote} maxLength={200} />
        <Load answer={known}>{({ types: all }) => <Types all={all} chosen={types} set={setTypes} />}</Load>
        <Field
          label="Custom headers, one per line"
          rows={3}
          value={headers}
          set={setHeaders}
          help={`For example, Authorization: Bearer x. You won’t see header values again. ${data.headers.length === 0 ? "No headers are set." : `Current headers: ${data.headers.join(", ")}. New headers replace all current headers. Leave this field empty to keep the current headers.`}`}
        />
        {data.headers.length > 0 && <Check label="Remove all custom headers" checked={bare} set={setBare} />}
        <Field
          label="Attempts per second"
          type="number"
          min={1}
          max={1000}
          value={rate}
          set={setRate}
          help="The default is 50. Attempts beyond this limit are queued."
        />
      </Form>
    </Panel>
  );
}

function End({ path, data, reload }: PartProps): JSX.Element {
  const { api, link, say } = useHere();
  const [isAsked, setAsked] = useState(false);
  const action = useAction();
  const disable = (): void =>
    action.run(async () => {
      await api.post(`${path}/disable`);
      reload();
    });
  const host = URL.canParse(data.url) ? new URL(data.url).host : data.url;
  return (
    <Panel
      title="Disable or remove"
      lead="A disabled webhook receives no events, but we keep missed events for 15 days. You must disable a webhook before you can remove it. Removing a webhook also deletes its secret."
    >
      <div class="row">
        {data.disabled ? (
          <Button kind="bad" onClick={() => setAsked(true)}>
            Remove
          </Button>
        ) : (
          <Button busy={action.busy} onClick={disable}>
            Disable
          </Button>
        )}
      </div>
      <Trouble failure={action.failure} />
      {isAsked && (
        <Confirm
          title="Remove webhook"
          name={host}
          send="Remove"
          close={() => setAsked(false)}
          does={async () => {
            await api.remove(path);
            say("Webhook removed.");
            location.hash = link("webhooks");
          }}
        >
          <p>We won’t send the webhook’s pending events. You can’t undo this.</p>
        </Confirm>
      )}
    </Panel>
  );
}
