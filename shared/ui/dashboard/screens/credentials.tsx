/** The organisation's credentials in one mode, and a form to create a credential. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Credential, NewCredential } from "../api/records.ts";
import { useAction, useHere } from "../app/app.ts";
import { Collection, type MakeProps } from "../parts/collection.tsx";
import { Copy, Field, Form, LinkButton, Panel } from "../parts/controls.tsx";
import { Id, Shown, Time, Used } from "../parts/show.tsx";
import { env } from "../parts/snippets.ts";

/** Splits a text at whitespace. Each line contains one URL. */
export const lines = (text: string): string[] => text.split(/\s+/).filter((line) => line !== "");

export const latestUse = ({ keys }: Credential): string | undefined =>
  keys
    .map((key) => key.last_used_at ?? "")
    .sort()
    .at(-1) || undefined;

export function Credentials(): JSX.Element {
  const { may, link } = useHere();
  return (
    <Collection
      of="credentials"
      title="Credentials"
      lead="Each credential has a public ID for your web pages and private keys for your servers."
      create="New credential"
      empty={
        may("develop")
          ? "To get started, create a credential for your code."
          : "An owner or admin can create a credential."
      }
      Make={New}
      Once={Once}
      head={["Public ID", "Note", "Keys", "Last used", "Created"]}
      keyOf={(one: Credential) => one.public_id}
      cells={(one) => [
        <a href={link("credentials", one.public_id)}>
          <Id of={one.public_id} />
        </a>,
        one.note || <span class="soft none">–</span>,
        one.keys.filter((key) => !key.revoked_at).length,
        <Used at={latestUse(one)} />,
        <Time at={one.created_at} />,
      ]}
    />
  );
}

function New({ done, close }: MakeProps<NewCredential>): JSX.Element {
  const { api, base, place } = useHere();
  const action = useAction();
  const [note, setNote] = useState("");
  const [redirects, setRedirects] = useState(place.mode === "test" ? "http://localhost:3000/connected" : "");
  const [origins, setOrigins] = useState("");
  const make = async (): Promise<void> =>
    done(
      await api.post<NewCredential>(`${base}/credentials`, {
        note: note.trim(),
        redirect_uris: lines(redirects),
        allowed_origins: lines(origins),
      }),
    );
  return (
    <Panel title="New credential">
      <Form action={action} does={make} send="Create credential" cancel={close}>
        <Field
          label="Note"
          value={note}
          set={setNote}
          maxLength={200}
          help="Add a note for your own reference, such as the system that uses this credential."
        />
        <Addresses redirects={redirects} setRedirects={setRedirects} origins={origins} setOrigins={setOrigins} />
      </Form>
    </Panel>
  );
}

interface AddressesProps {
  redirects: string;
  setRedirects: (text: string) => void;
  origins: string;
  setOrigins: (text: string) => void;
}

export function Addresses({ redirects, setRedirects, origins, setOrigins }: AddressesProps): JSX.Element {
  const { place } = useHere();
  return (
    <>
      <Field
        label="Redirect URIs, one per line"
        rows={3}
        required
        value={redirects}
        set={setRedirects}
        help={`Patients return to one of these URIs, which must match exactly. ${place.mode === "test" ? "http is allowed only for localhost." : "Use https or your app’s own URL scheme."}`}
      />
      <Field
        label="Allowed origins, one per line"
        rows={2}
        value={origins}
        set={setOrigins}
        help="Only these origins, such as https://app.example, can show the widget. Leave this field empty to allow any site."
      />
    </>
  );
}

/** Shows a new private key once. */
export function Once({ made: { credential, private_key: key } }: { made: NewCredential }): JSX.Element {
  const { boot, link } = useHere();
  return (
    <Shown secret={key} what="private key" once>
      <p>
        Public ID <Id of={credential.public_id} /> <Copy text={credential.public_id} what="public ID" />
      </p>
      <div class="row">
        <Copy text={env(boot.base_url, credential.public_id, key)} label="Copy as .env file" what=".env file" />
        <LinkButton href={link("webhooks")}>Next: add a webhook</LinkButton>
      </div>
    </Shown>
  );
}
