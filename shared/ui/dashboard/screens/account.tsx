/** The user's own account: email address, second factors and sessions. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Passkey, SentCode, DashboardSession } from "../api/records.ts";
import { useAction, useApp } from "../app/app.ts";
import { Button, Copy, Empty, Field, Form, Notice, Panel, Title, Trouble } from "../parts/controls.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Badge, Facts, Qr, Table, Time } from "../parts/show.tsx";
import { create, hasPasskeys } from "../api/passkey.ts";
import { NewCodes, RecoveryCodes } from "./recovery.tsx";
import type { CreationJson } from "../api/passkey.ts";

export function Account(): JSX.Element {
  const { session } = useApp();
  const { account } = session;
  const [codes, setCodes] = useState<string[]>();
  const isAlone = !account.totp && account.passkeys.length === 0;
  return (
    <>
      <Title lead={account.email}>Your account</Title>
      {isAlone && (
        <Notice tone="warn">
          <p>Anyone who can read your email can sign in as you. Add a passkey or an authenticator app.</p>
        </Notice>
      )}
      <Passkeys show={setCodes} />
      <Generator show={setCodes} />
      {!isAlone && <RecoveryCodes show={setCodes} />}
      <Address />
      <Everywhere />
      {codes && <NewCodes codes={codes} close={() => setCodes(undefined)} />}
    </>
  );
}

/**
 * Stores a session that the API returned together with a second factor. For a first second factor, also shows the
 * recovery codes without storing them.
 */
const useEntry = (show: (codes: string[]) => void): ((session: DashboardSession) => void) => {
  const { enter } = useApp();
  return ({ recovery_codes, ...session }) => {
    enter(session);
    if (recovery_codes) show(recovery_codes);
  };
};

function Passkeys({ show }: { show: (codes: string[]) => void }): JSX.Element {
  const { api, session, enter, say } = useApp();
  const { passkeys } = session.account;
  const [name, setName] = useState("");
  const [ending, setEnding] = useState<Passkey>();
  const take = useEntry(show);
  const action = useAction();
  const add = async (): Promise<void> => {
    const { options } = await api.post<{ options: CreationJson }>("account/passkeys/options");
    take(await api.post<DashboardSession>("account/passkeys", { name: name.trim(), response: await create(options) }));
    setName("");
    say("Passkey added.");
  };
  return (
    <Panel title="Passkeys" lead="Your device or password manager confirms that it’s you. Passkeys can’t be phished.">
      {passkeys.length === 0 ? (
        <Empty title="No passkeys yet." />
      ) : (
        <Table
          label="Passkeys"
          head={["Name", "Created", "Last used", "Actions"]}
          rows={passkeys}
          keyOf={({ id }) => id}
          cells={(one) => [
            one.name,
            <Time at={one.created_at} />,
            <Time at={one.used_at} />,
            <Button kind="quiet" onClick={() => setEnding(one)} label={`Remove ${one.name}`}>
              Remove
            </Button>,
          ]}
        />
      )}
      {hasPasskeys() && (
        <Form action={action} does={add} send="Add passkey">
          <Field
            label="Passkey name"
            value={name}
            set={setName}
            required
            maxLength={60}
            help="For example, “Work laptop”."
          />
        </Form>
      )}
      {ending && (
        <Confirm
          title="Remove passkey"
          name={ending.name}
          send="Remove"
          close={() => setEnding(undefined)}
          does={async () => {
            enter(await api.remove<DashboardSession>(`account/passkeys/${encodeURIComponent(ending.id)}`));
            setEnding(undefined);
          }}
        >
          <p>You won’t be able to sign in with this passkey. You’ll be signed out everywhere else.</p>
        </Confirm>
      )}
    </Panel>
  );
}

/** Splits a secret into groups of four characters for easier reading. Authenticator apps accept the spaces. */
const grouped = (secret: string): string => secret.replace(/(.{4})(?=.)/g, "$1 ");

function Generator({ show }: { show: (codes: string[]) => void }): JSX.Element {
  const { api, session, enter, say } = useApp();
  const { totp } = session.account;
  const [offer, setOffer] = useState<{ secret: string; uri: string }>();
  const [code, setCode] = useState("");
  const take = useEntry(show);
  const action = useAction();
  const begin = (): void => action.run(async () => setOffer(await api.post("account/totp")));
  const end = (): void =>
    action.run(async () => {
      enter(await api.remove<DashboardSession>("account/totp"));
      say("Authenticator app removed.");
    });
  const prove = async (): Promise<void> => {
    take(await api.put<DashboardSession>("account/totp", { code: code.replace(/\D/g, "") }));
    setOffer(undefined);
    setCode("");
    say("Authenticator app turned on.");
  };
  return (
    <Panel
      title="Authenticator app"
      lead="Your app shows a new six-digit code every 30 seconds (TOTP)."
      actions={<Badge of={totp ? "on" : "off"} tone={totp ? "good" : ""} />}
    >
      {offer ? (
        <>
          <p>Scan this QR code with your authenticator app. You won’t see the QR code again.</p>
          <div class="enrol">
            <Qr text={offer.uri} label="QR code with the setup secret" />
            <div class="form">
              <p>
                No camera? Enter this secret in your authenticator app, or open the link on the device that has the app.
              </p>
              <code class="value">{grouped(offer.secret)}</code>
              <div class="row">
                <Copy text={offer.secret} what="secret" /> <a href={offer.uri}>Open in app</a>
              </div>
            </div>
          </div>
          <Form action={action} does={prove} send="Turn on" cancel={() => setOffer(undefined)}>
            <Field
              label="Code from your authenticator app"
              value={code}
              set={setCode}
              inputMode="numeric"
              autocomplete="one-time-code"
              required
              maxLength={12}
            />
          </Form>
        </>
      ) : (
        <>
          <div class="row">
            <Button busy={action.busy} onClick={begin}>
              {totp ? "Set up new app" : "Set up"}
            </Button>
            {totp && (
              <Button kind="bad" busy={action.busy} onClick={end}>
                Remove
              </Button>
            )}
          </div>
          <Trouble failure={action.failure} />
        </>
      )}
    </Panel>
  );
}

function Address(): JSX.Element {
  const { api, session, enter, say } = useApp();
  const [email, setEmail] = useState("");
  const [code, setCode] = useState("");
  const [sent, setSent] = useState<SentCode>();
  const action = useAction();
  const send = async (): Promise<void> => setSent(await api.post<SentCode>("account/email", { email: email.trim() }));
  const prove = async (): Promise<void> => {
    enter(
      await api.put<DashboardSession>("account/email", {
        email: email.trim(),
        verification_id: sent?.verification_id,
        code: code.replace(/\D/g, ""),
      }),
    );
    setSent(undefined);
    setEmail("");
    setCode("");
    say("Email address changed.");
  };
  return (
    <Panel
      title="Email address"
      lead="We’ll send a code to the new address. You’ll have 72 hours to undo the change from your old address."
    >
      <Facts of={[["Current", session.account.email]]} />
      {sent ? (
        <Form action={action} does={prove} send="Change address" cancel={() => setSent(undefined)}>
          <Field
            label={`Code sent to ${email.trim()}`}
            value={code}
            set={setCode}
            inputMode="numeric"
            autocomplete="one-time-code"
            required
            maxLength={12}
          />
        </Form>
      ) : (
        <Form action={action} does={send} send="Send code" kind="main">
          <Field
            label="New email address"
            type="email"
            value={email}
            set={setEmail}
            required
            maxLength={254}
            autocomplete="email"
          />
        </Form>
      )}
    </Panel>
  );
}

function Everywhere(): JSX.Element {
  const { api, enter } = useApp();
  const action = useAction();
  const leave = (path: string) => () =>
    action.run(async () => {
      await api.remove(path);
      enter(undefined);
    });
  return (
    <Panel title="Sessions" lead="Sessions end after 12 hours, or after 2 hours of inactivity.">
      <div class="row">
        <Button busy={action.busy} onClick={leave("session")}>
          Sign out
        </Button>
        <Button kind="bad" busy={action.busy} onClick={leave("sessions")}>
          Sign out everywhere
        </Button>
      </div>
      <Trouble failure={action.failure} />
    </Panel>
  );
}
