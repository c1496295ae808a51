/** The webhooks of one mode, and a form to create a webhook. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { NewWebhook, Webhook, WebhookType } from "../api/records.ts";
import { useAction, useHere, useQuery } from "../app/app.ts";
import { Collection, type MakeProps } from "../parts/collection.tsx";
import { Check, Field, Form, LinkButton, Load, Panel } from "../parts/controls.tsx";
import { Badge, Shown, Time } from "../parts/show.tsx";

/** The properties of each part of a webhook's page. */
export interface WebhookProps {
  path: string;
  data: Webhook;
  reload: () => void;
}

export const stateOf = ({ disabled, health }: Webhook): string =>
  disabled ? "disabled" : health.failures > 0 ? "failing" : "enabled";

export function Webhooks(): JSX.Element {
  const { link } = useHere();
  return (
    <Collection
      of="webhooks"
      title="Webhooks"
      lead="We send records and connection events to your webhooks."
      create="New webhook"
      empty="Add a webhook to receive records and connection events."
      Make={New}
      Once={Made}
      head={["URL", "Status", "Events", "Last failure", "Created"]}
      keyOf={(one: Webhook) => one.webhook_id}
      cells={(one) => [
        <a class="break" href={link("webhooks", one.webhook_id)}>
          {one.note || one.url}
        </a>,
        <Badge of={stateOf(one)} />,
        one.types.length,
        <Time at={one.health.last_failure_at} />,
        <Time at={one.created_at} />,
      ]}
    />
  );
}

function New({ done, close }: MakeProps<NewWebhook>): JSX.Element {
  const { api, base, place } = useHere();
  const action = useAction();
  const known = useQuery<{ types: WebhookType[] }>(`${base}/webhook-types`);
  const [url, setUrl] = useState("");
  const [note, setNote] = useState("");
  const [types, setTypes] = useState<string[]>();
  const chosen = types ?? known.data?.types.filter((one) => one.default === "on").map(({ type }) => type) ?? [];
  return (
    <Panel title="New webhook">
      <Form
        action={action}
        send="Add webhook"
        cancel={close}
        does={async () =>
          done(await api.post<NewWebhook>(`${base}/webhooks`, { url: url.trim(), types: chosen, note: note.trim() }))
        }
      >
        <Field
          label="URL"
          type="url"
          value={url}
          set={setUrl}
          required
          maxLength={2000}
          placeholder="https://app.example/webhooks/records"
          help={
            place.mode === "test"
              ? "Use HTTPS. HTTP is allowed only for localhost."
              : "Use HTTPS. Your endpoint must respond with a 2xx status within 30 seconds."
          }
        />
        <Field label="Note" value={note} set={setNote} maxLength={200} />
        <Load answer={known}>{({ types: all }) => <Types all={all} chosen={chosen} set={setTypes} />}</Load>
      </Form>
    </Panel>
  );
}

/** Event types as checkboxes. The checkboxes of required event types are always checked. */
export function Types({
  all,
  chosen,
  set,
}: {
  all: WebhookType[];
  chosen: readonly string[];
  set: (chosen: string[]) => void;
}): JSX.Element {
  return (
    <fieldset>
      <legend>Events</legend>
      {all.map(({ type, title, when, default: choice }) => (
        <Check
          key={type}
          label={
            <>
              {title} <code class="soft">{type}</code> {choice === "required" && <Badge of="required" />}
            </>
          }
          help={when}
          locked={choice === "required"}
          checked={choice === "required" || chosen.includes(type)}
          set={(on) => set(on ? [...chosen, type] : chosen.filter((one) => one !== type))}
        />
      ))}
    </fieldset>
  );
}

export function Made({ made: { webhook, secret } }: { made: NewWebhook }): JSX.Element {
  const { link } = useHere();
  return (
    <Shown secret={secret} what="signing secret">
      <p>Your endpoint uses this secret to verify that events come from us. See the Overview page for sample code.</p>
      <div class="row">
        <LinkButton kind="main" href={link("webhooks", webhook.webhook_id)}>
          Next: send a test event
        </LinkButton>
      </div>
    </Shown>
  );
}
