/** Recovery codes: the number of remaining codes, and new codes, which are shown only once. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useAction, useApp } from "../app/app.ts";
import { Button, Check, Copy, Form, Notice, Panel, Trouble } from "../parts/controls.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Badge } from "../parts/show.tsx";
import { download } from "./usage.tsx";

/** The number of remaining codes at or below which a warning is shown. */
const FEW = 3;

export function RecoveryCodes({ show }: { show: (codes: string[]) => void }): JSX.Element {
  const { api, session, refresh } = useApp();
  const [asking, setAsking] = useState(false);
  const action = useAction();
  const left = session.account.recovery_codes_left;
  const make = async (): Promise<void> => {
    const { recovery_codes } = await api.post<{ recovery_codes: string[] }>("account/recovery-codes");
    setAsking(false);
    show(recovery_codes);
    await refresh();
  };
  const create = (): void => (left > 0 ? setAsking(true) : action.run(make));
  return (
    <Panel
      title="Recovery codes"
      lead="If you lose your second factor, sign in with a recovery code. Each code works only once."
      actions={<Badge of={`${left} left`} tone={left > FEW ? "good" : "bad"} />}
    >
      {left <= FEW && (
        <Notice tone="warn">
          <p>
            {left === 0
              ? "You have no recovery codes. If you lose your second factor, you won’t be able to sign in."
              : `You have ${left} recovery ${left === 1 ? "code" : "codes"} left. Create new codes soon.`}
          </p>
        </Notice>
      )}
      <div class="row">
        <Button busy={action.busy} onClick={create}>
          Create new codes
        </Button>
      </div>
      <Trouble failure={action.failure} />
      {asking && (
        <Dialog title="Create new codes" close={() => setAsking(false)}>
          <Form action={action} does={make} send="Create new codes" cancel={() => setAsking(false)}>
            <p>Your old recovery codes will stop working.</p>
          </Form>
        </Dialog>
      )}
    </Panel>
  );
}

export function NewCodes({ codes, close }: { codes: string[]; close: () => void }): JSX.Element {
  const { session } = useApp();
  const [saved, setSaved] = useState(false);
  const [hinted, setHinted] = useState(false);
  const text = `Recordbridge recovery codes for ${session.account.email}\nEach code works only once.\n\n${codes.join("\n")}\n`;
  const done = (): void => (saved ? close() : setHinted(true));
  return (
    <Dialog title="Save your recovery codes" close={done}>
      <p>If you lose your second factor, you’ll need one of these codes to sign in. You won’t see these codes again.</p>
      <ul class="codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div class="row">
        <Copy text={text} what="codes" />
        <Button
          kind="quiet"
          onClick={() => download(new Blob([text], { type: "text/plain" }), "recordbridge-recovery-codes.txt")}
        >
          Download codes
        </Button>
      </div>
      <Check label="I’ve saved these codes" checked={saved} set={setSaved} />
      <div role="alert">{hinted && !saved && <p>Save your recovery codes, then check the box.</p>}</div>
      <div class="row">
        <Button kind="main" onClick={done}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
