/** The organisation's credentials in a mode, and making one. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Credential, NewCredential } from "../api/records.ts";
import { useAction, useHere } from "../app/app.ts";
import { Collection, type MakeProps } from "../parts/collection.tsx";
import { Copy, Field, Form, LinkButton, Panel } from "../parts/controls.tsx";
import { Id, Shown, Time, Used } from "../parts/show.tsx";
import { env } from "../parts/snippets.ts";

/** The addresses of a text, one a line. */
export const lines = (text: string): string[] => text.split(/\s+/).filter((line) => line !== "");

export const latestUse = ({ keys }: Credential): string | undefined =>
  keys.map((key) => key.last_used_at ?? "").sort().at(-1) || undefined;

export function Credentials(): JSX.Element {
  const { may, link } = useHere();
  return (
    <Collection
      of="credentials"
      title="Credentials"
      lead="A public id for your pages, with private keys for your servers."
      create="Create a credential"
      empty={may("develop") ? "It is the first thing that your code needs." : "An owner or admin of the organisation can create one."}
      Make={New}
      Once={Once}
      head={["Public id", "Note", "Keys", "Last used", "Created"]}
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
    done(await api.post<NewCredential>(`${base}/credentials`, { note: note.trim(), redirect_uris: lines(redirects), allowed_origins: lines(origins) }));
  return (
    <Panel title="New credential">
      <Form action={action} does={make} send="Create credential" cancel={close}>
        <Field label="Note" value={note} set={setNote} maxLength={200} help="For you alone: which of your systems has it." />
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
      <Field label="Redirect URIs, one a line" rows={3} required value={redirects} set={setRedirects}
        help={`Where patients return. They are compared letter by letter. ${place.mode === "test" ? "http is taken for localhost." : "They have to be https, or a scheme of your app."}`} />
      <Field label="Allowed origins, one a line" rows={2} value={origins} set={setOrigins} help="Whose pages may show the widget, as https://app.example. None: everybody’s." />
    </>
  );
}

/** A private key, once. */
export function Once({ made: { credential, private_key: key } }: { made: NewCredential }): JSX.Element {
  const { boot, link } = useHere();
  return (
    <Shown secret={key} what="private key">
      <p>
        Public id <Id of={credential.public_id} /> <Copy text={credential.public_id} what="public id" />
      </p>
      <div class="row">
        <Copy text={env(boot.base_url, credential.public_id, key)} label="Copy as" what=".env file" />
        <LinkButton href={link("webhooks")}>Next: a webhook</LinkButton>
      </div>
    </Shown>
  );
}
