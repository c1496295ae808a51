/** A webhook's signing secrets and signing key. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Secrets } from "../api/records.ts";
import { useAction, useHere } from "../app/app.ts";
import { Button, Check, Copy, Form, Panel, Trouble } from "../parts/controls.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Shown as Once, Time } from "../parts/show.tsx";
import type { WebhookProps } from "./webhooks.tsx";

/** Returns the time when the last old secret stops signing, or undefined if no old secret signs. The list also contains expired secrets. */
export function lastOldSecret(ends: readonly string[], now: number): string | undefined {
  return [...ends]
    .sort()
    .reverse()
    .find((end) => Date.parse(end) > now);
}

export function Secret({ path, data, reload }: WebhookProps): JSX.Element {
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

export function SigningKey({ path, data, reload }: WebhookProps): JSX.Element {
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
