/** A webhook's settings, and how to disable or remove it. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Webhook, WebhookType } from "../api/records.ts";
import { useAction, useHere, useQuery } from "../app/app.ts";
import { useEdit, type Fields } from "../app/edit.ts";
import { Button, Check, Field, Load, Notice, Panel } from "../parts/controls.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { EditForm } from "../parts/edit.tsx";
import { Types, type WebhookProps } from "./webhooks.tsx";

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

type Draft = { url: string; note: string; types: readonly string[]; headers: string | null; rate: string };

const FIELDS: Fields<Webhook, Draft> = {
  url: { label: "URL", of: ({ url }) => url },
  note: { label: "Note", of: ({ note }) => note },
  types: { label: "Events", of: ({ types }) => types },
  // empty to keep the current headers, null to remove them
  headers: {
    label: "Custom headers",
    of: () => "",
    saved: ({ headers }) => headers,
    typed: (text) => Object.keys(headersOf(text ?? "")),
  },
  rate: { label: "Attempts per second", of: ({ rate }) => String(rate || "") },
};

export function Settings({ path, data, reload }: WebhookProps): JSX.Element {
  const { api, base, say } = useHere();
  const known = useQuery<{ types: WebhookType[] }>(`${base}/webhook-types`);
  const action = useAction();
  const edit = useEdit({
    data,
    fields: FIELDS,
    load: () => api.get<Webhook>(path),
    save: ({ url, note, types, headers, rate }, version) => {
      const optional = known.data?.types.filter((one) => one.default !== "required").map(({ type }) => type);
      const body = {
        url: url.trim(),
        note: note.trim(),
        rate: Number(rate),
        ...(optional && { types: types.filter((type) => optional.includes(type)) }),
        ...(headers?.trim() !== "" && { headers: headersOf(headers ?? "") }),
      };
      return api.patch<Webhook>(path, body, version);
    },
    done: (_, isSaved) => {
      if (isSaved) say("Saved.");
      reload();
    },
  });
  const { url, note, types, headers, rate } = edit.draft;
  return (
    <Panel title="Settings">
      <EditForm edit={edit} action={action} what="webhook">
        <Field label="URL" type="url" value={url} set={(to) => edit.set("url", to)} required maxLength={2000} />
        {data.headers.length > 0 && headers?.trim() === "" && leaves(data.url, url.trim()) && (
          <Notice tone="warn">
            <p>
              This URL is on a different host, so saving will remove your custom headers ({data.headers.join(", ")}).
              Enter the headers again below if the new endpoint needs them.
            </p>
          </Notice>
        )}
        <Field label="Note" value={note} set={(to) => edit.set("note", to)} maxLength={200} />
        <Load answer={known}>
          {({ types: all }) => <Types all={all} chosen={types} set={(to) => edit.set("types", to)} />}
        </Load>
        <Field
          label="Custom headers, one per line"
          rows={3}
          value={headers ?? ""}
          set={(to) => edit.set("headers", to)}
          help={`For example, Authorization: Bearer x. You won’t see header values again. ${data.headers.length === 0 ? "No headers are set." : `Current headers: ${data.headers.join(", ")}. New headers replace all current headers. Leave this field empty to keep the current headers.`}`}
        />
        {data.headers.length > 0 && (
          <Check
            label="Remove all custom headers"
            checked={headers === null}
            set={(on) => edit.set("headers", on ? null : "")}
          />
        )}
        <Field
          label="Attempts per second"
          type="number"
          min={1}
          max={1000}
          value={rate}
          set={(to) => edit.set("rate", to)}
          help="The default is 50. Attempts beyond this limit are queued."
        />
      </EditForm>
    </Panel>
  );
}

export function End({ path, data, reload }: WebhookProps): JSX.Element {
  const { api, link, say } = useHere();
  const [isAsked, setAsked] = useState(false);
  const host = URL.canParse(data.url) ? new URL(data.url).host : data.url;
  return (
    <Panel
      title="Disable or remove"
      lead="A disabled webhook receives no events, but we keep missed events for 15 days. You must disable a webhook before you can remove it. Removing a webhook also deletes its secret."
    >
      <div class="row">
        <Button kind="bad" onClick={() => setAsked(true)}>
          {data.disabled ? "Remove" : "Disable"}
        </Button>
      </div>
      {isAsked && !data.disabled && (
        <Confirm
          title="Disable webhook"
          name={host}
          send="Disable"
          close={() => setAsked(false)}
          does={async () => {
            await api.post(`${path}/disable`);
            setAsked(false);
            reload();
          }}
        >
          <p>Your endpoint will receive no events until you enable the webhook again.</p>
        </Confirm>
      )}
      {isAsked && data.disabled && (
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
