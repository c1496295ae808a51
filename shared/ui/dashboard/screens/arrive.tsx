/** Entry screens: creating an organisation, accepting an invitation, and restoring an email address. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Api } from "../api/api.ts";
import type { Membership } from "../api/records.ts";
import { useAction, useApp } from "../app/app.ts";
import { Button, Field, Form, Notice, Title, Trouble } from "../parts/controls.tsx";
import { address } from "../app/router.ts";

export function NewOrganisation(): JSX.Element {
  const { api, refresh, session } = useApp();
  const [name, setName] = useState("");
  const action = useAction();
  const make = async (): Promise<void> => {
    const made = await api.post<Pick<Membership, "id">>("organisations", { name: name.trim() });
    location.hash = address({ org: made.id, mode: "test" });
    await refresh();
  };
  return (
    <div class="narrow">
      <Title lead="Patients see this name when they connect. You can change the name later.">
        Create an organisation
      </Title>
      <div class="panel">
        <Form action={action} does={make} send="Create organisation">
          <Field
            label="Organisation name"
            value={name}
            set={setName}
            required
            maxLength={100}
            autocomplete="organization"
          />
        </Form>
      </div>
      <p class="soft">
        Does your company already have an organisation? Ask an owner or admin to invite{" "}
        <strong>{session.account.email}</strong>. The first organisation on an email domain reserves that domain.
      </p>
    </div>
  );
}

export function Invitation({ token }: { token: string }): JSX.Element {
  const { api, refresh, session } = useApp();
  const action = useAction();
  const accept = async (): Promise<void> => {
    const { organisation_id: org } = await api.post<{ organisation_id: string }>("invitations", { token });
    history.replaceState(null, "", address({ org, mode: "test" })); // keep the used token out of the history
    dispatchEvent(new HashChangeEvent("hashchange"));
    await refresh();
  };
  return (
    <div class="narrow">
      <Title lead={`You’re signed in as ${session.account.email}.`}>You’ve been invited</Title>
      <div class="row">
        <Button kind="main" busy={action.busy} onClick={() => action.run(accept)}>
          Accept invitation
        </Button>
      </div>
      <Trouble failure={action.failure} />
      {action.failure?.status === 404 && (
        <p class="soft">
          An invitation can be used once and expires after a week. Sign in with the invited email address, or request a
          new invitation.
        </p>
      )}
    </div>
  );
}

/** Restores an account's email address after someone else changed the address. The user need not be signed in. */
export function Restore({
  api,
  token,
  enter,
}: {
  api: Api;
  token: string;
  enter: (session: undefined) => void;
}): JSX.Element {
  const action = useAction();
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    history.replaceState(null, "", "#/restore"); // keep the token out of the history
    document.querySelector<HTMLElement>("main h1")?.focus();
  }, []);
  const [kept] = useState(token);
  const restore = async (): Promise<void> => {
    await api.post("account/email/restore", { token: kept });
    setDone(true);
  };
  const leave = (): void => {
    enter(undefined);
    location.hash = "#/account";
  };
  return (
    <main class="gate">
      <p class="brand">Recordbridge</p>
      <div class="panel">
        <Title lead="We’ll end every session and switch the account back to your email address.">
          Restore your email address
        </Title>
        {isDone ? (
          <Notice tone="good">
            <p>Email address restored. Sign in again, then check your passkeys and authenticator app.</p>
            <Button onClick={leave}>Sign in</Button>
          </Notice>
        ) : (
          <Button kind="main" busy={action.busy} onClick={() => action.run(restore)}>
            Restore email address
          </Button>
        )}
        <Trouble failure={action.failure} />
      </div>
    </main>
  );
}
