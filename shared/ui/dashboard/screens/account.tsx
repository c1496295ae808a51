/** The person's own account: address, second factors, and everywhere that they are signed in. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Passkey, SentCode, DashboardSession } from "../api/records.ts";
import { useAction, useApp } from "../app/app.ts";
import { Button, Confirm, Copy, Empty, Field, Form, Notice, Panel, Title, Trouble } from "../parts/controls.tsx";
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
          <p>Whoever reads your mail can sign in as you. Add a passkey, or a generator of codes.</p>
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

/** Takes a session that came with a factor; its recovery codes, of the first factor, are shown and not kept. */
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
    <Panel title="Passkeys" lead="Your device, or your password manager, proves that it is you. Nobody can trick you into giving one away.">
      {passkeys.length === 0 ? (
        <Empty title="There is none yet." />
      ) : (
        <Table
          label="Passkeys"
          head={["Name", "Made", "Last used", "Actions"]}
          rows={passkeys}
          keyOf={({ id }) => id}
          cells={(one) => [one.name, <Time at={one.created_at} />, <Time at={one.used_at} />, <Button kind="quiet" onClick={() => setEnding(one)} label={`Remove ${one.name}`}>Remove</Button>]}
        />
      )}
      {hasPasskeys() && (
        <Form action={action} does={add} send="Add a passkey">
          <Field label="Name of the passkey" value={name} set={setName} required maxLength={60} help="So that you know it again, as “Work laptop”." />
        </Form>
      )}
      {ending && (
        <Confirm title="Remove the passkey" name={ending.name} send="Remove" close={() => setEnding(undefined)} does={async () => {
          enter(await api.remove<DashboardSession>(`account/passkeys/${encodeURIComponent(ending.id)}`));
          setEnding(undefined);
        }}>
          <p>It does not sign you in any more. You are signed out everywhere else.</p>
        </Confirm>
      )}
    </Panel>
  );
}

/** A secret in groups of four letters, so that nobody loses their place. Generators take the spaces. */
const grouped = (secret: string): string => secret.replace(/(.{4})(?=.)/g, "$1 ");

function Generator({ show }: { show: (codes: string[]) => void }): JSX.Element {
  const { api, session, enter, say } = useApp();
  const { totp } = session.account;
  const [offer, setOffer] = useState<{ secret: string; uri: string }>();
  const [code, setCode] = useState("");
  const take = useEntry(show);
  const action = useAction();
  const begin = (): void => action.run(async () => setOffer(await api.post("account/totp")));
  const end = (): void => action.run(async () => {
    enter(await api.remove<DashboardSession>("account/totp"));
    say("Removed.");
  });
  const prove = async (): Promise<void> => {
    take(await api.put<DashboardSession>("account/totp", { code: code.replace(/\D/g, "") }));
    setOffer(undefined);
    setCode("");
    say("Your generator is on.");
  };
  return (
    <Panel title="Generator of codes" lead="An app that shows six digits, new ones each half minute (TOTP)." actions={<Badge of={totp ? "on" : "off"} tone={totp ? "good" : ""} />}>
      {offer ? (
        <>
          <p>Scan this with your app. It is shown only now.</p>
          <div class="enrol">
            <Qr text={offer.uri} label="QR code of the secret, which is beside it as text" />
            <div class="form">
              <p>Without a camera, type this secret, or open the link on the device that has the app.</p>
              <code class="value">{grouped(offer.secret)}</code>
              <div class="row">
                <Copy text={offer.secret} what="secret" /> <a href={offer.uri}>Open in an app</a>
              </div>
            </div>
          </div>
          <Form action={action} does={prove} send="Turn it on" cancel={() => setOffer(undefined)}>
            <Field label="The code that it shows now" value={code} set={setCode} inputMode="numeric" autocomplete="one-time-code" required maxLength={12} />
          </Form>
        </>
      ) : (
        <>
          <div class="row">
            <Button busy={action.busy} onClick={begin}>{totp ? "Set up another" : "Set up"}</Button>
            {totp && <Button kind="bad" busy={action.busy} onClick={end}>Remove</Button>}
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
    enter(await api.put<DashboardSession>("account/email", { email: email.trim(), verification_id: sent?.verification_id, code: code.replace(/\D/g, "") }));
    setSent(undefined);
    setEmail("");
    setCode("");
    say("Your address is changed.");
  };
  return (
    <Panel title="E-mail address" lead="The new one is proven by a code. The old one is told, and can take the change back for 72 hours.">
      <Facts of={[["Now", session.account.email]]} />
      {sent ? (
        <Form action={action} does={prove} send="Change it" cancel={() => setSent(undefined)}>
          <Field label={`Code that was sent to ${email.trim()}`} value={code} set={setCode} inputMode="numeric" autocomplete="one-time-code" required maxLength={12} />
        </Form>
      ) : (
        <Form action={action} does={send} send="Send a code" kind="main">
          <Field label="New address" type="email" value={email} set={setEmail} required maxLength={254} autocomplete="email" />
        </Form>
      )}
    </Panel>
  );
}

function Everywhere(): JSX.Element {
  const { api, enter } = useApp();
  const action = useAction();
  const leave = (path: string) => () => action.run(async () => {
    await api.remove(path);
    enter(undefined);
  });
  return (
    <Panel title="Sessions" lead="One ends after 12 hours, and after two without a request.">
      <div class="row">
        <Button busy={action.busy} onClick={leave("session")}>Sign out</Button>
        <Button kind="bad" busy={action.busy} onClick={leave("sessions")}>Sign out everywhere</Button>
      </div>
      <Trouble failure={action.failure} />
    </Panel>
  );
}
