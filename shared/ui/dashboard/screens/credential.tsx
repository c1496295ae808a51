/** One credential: its keys, redirect URIs and origins. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Credential as Record, Key, NewCredential } from "../api/records.ts";
import { useAction, useHere, useQuery } from "../app/app.ts";
import { useEdit, type Fields } from "../app/edit.ts";
import { Button, Copy, Field, Load, Panel, Title, Trouble } from "../parts/controls.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { EditForm } from "../parts/edit.tsx";
import { Badge, Facts, Id, Table, Time, Used } from "../parts/show.tsx";
import { Addresses, lines, Once } from "./credentials.tsx";

export function Credential({ id }: { id: string }): JSX.Element {
  const { base, link } = useHere();
  const path = `${base}/credentials/${encodeURIComponent(id)}`;
  const answer = useQuery<Record>(path);
  return (
    <>
      <p class="back">
        <a href={link("credentials")}>Credentials</a>
      </p>
      <Title>Credential</Title>
      <Load answer={answer}>{(data) => <Shown key={id} path={path} data={data} reload={answer.reload} />}</Load>
    </>
  );
}

interface ShownProps {
  path: string;
  data: Record;
  reload: () => void;
}

function Shown({ path, data, reload }: ShownProps): JSX.Element {
  const { may } = useHere();
  return (
    <>
      <Panel title="Details">
        <Facts
          of={[
            [
              "Public ID",
              <>
                <Id of={data.public_id} /> <Copy text={data.public_id} what="public ID" />
              </>,
            ],
            ["Created", <Time at={data.created_at} exact />],
            ["Note", data.note || "–"],
          ]}
        />
      </Panel>
      <Keys path={path} data={data} reload={reload} />
      {may("develop") && <Settings path={path} data={data} reload={reload} />}
      {may("develop") && <Revoke path={path} data={data} />}
    </>
  );
}

function Keys({ path, data, reload }: ShownProps): JSX.Element {
  const { api, may } = useHere();
  const [made, setMade] = useState<NewCredential>();
  const [ending, setEnding] = useState<Key>();
  const action = useAction();
  const live = data.keys.filter((key) => !key.revoked_at);
  const rotate = async (): Promise<void> => {
    const { private_key } = await api.post<{ private_key: string }>(`${path}/keys`);
    setMade({ credential: data, private_key });
  };
  const done = (): void => {
    setMade(undefined);
    reload();
  };
  const lead =
    "You can have two active keys. To rotate keys, create and deploy a second key, then revoke the first key.";
  return (
    <Panel
      title="Private keys"
      lead={lead}
      actions={
        may("develop") &&
        live.length < 2 && (
          <Button busy={action.busy} onClick={() => action.run(rotate)}>
            Create second key
          </Button>
        )
      }
    >
      <Trouble failure={action.failure} />
      {made && (
        <>
          <Once made={made} />
          <div class="row">
            <Button onClick={done}>Done</Button>
          </div>
        </>
      )}
      <Table
        label="Private keys"
        head={["Key", "Created", "Last used", "Status", "Actions"]}
        rows={data.keys}
        keyOf={(key) => key.key_id}
        cells={(key) => [
          <Id of={key.key_id.slice(0, 8)} />,
          <Time at={key.created_at} />,
          <Used at={key.last_used_at} />,
          <Badge of={key.revoked_at ? "revoked" : "active"} />,
          may("develop") && !key.revoked_at && live.length > 1 && (
            <Button kind="quiet" onClick={() => setEnding(key)} label={`Revoke key ${key.key_id.slice(0, 8)}`}>
              Revoke
            </Button>
          ),
        ]}
      />
      {ending && (
        <Confirm
          title="Revoke key"
          name={ending.key_id.slice(0, 8)}
          send="Revoke key"
          close={() => setEnding(undefined)}
          does={async () => {
            await api.remove(`${path}/keys/${encodeURIComponent(ending.key_id)}`);
            setEnding(undefined);
            reload();
          }}
        >
          <p>
            Servers that still use this key will be rejected within 30 seconds.{" "}
            {ending.last_used_at && (
              <>
                This key was last used <Used at={ending.last_used_at} />.
              </>
            )}
          </p>
        </Confirm>
      )}
    </Panel>
  );
}

type Draft = { note: string; redirects: string; origins: string };

const FIELDS: Fields<Record, Draft> = {
  note: { label: "Note", of: ({ note }) => note },
  redirects: {
    label: "Redirect URIs",
    of: (one) => one.redirect_uris.join("\n"),
    saved: (one) => one.redirect_uris,
    typed: lines,
  },
  origins: {
    label: "Allowed origins",
    of: (one) => one.allowed_origins.join("\n"),
    saved: (one) => one.allowed_origins,
    typed: lines,
  },
};

function Settings({ path, data, reload }: ShownProps): JSX.Element {
  const { api, say } = useHere();
  const action = useAction();
  const edit = useEdit({
    data,
    fields: FIELDS,
    load: () => api.get<Record>(path),
    save: ({ note, redirects, origins }, version) => {
      const body = { note: note.trim(), redirect_uris: lines(redirects), allowed_origins: lines(origins) };
      return api.patch<Record>(path, body, version);
    },
    done: (_, isSaved) => {
      if (isSaved) say("Saved.");
      reload();
    },
  });
  const { note, redirects, origins } = edit.draft;
  return (
    <Panel title="Settings">
      <EditForm edit={edit} action={action} what="credential">
        <Field label="Note" value={note} set={(to) => edit.set("note", to)} maxLength={200} />
        <Addresses
          redirects={redirects}
          setRedirects={(to) => edit.set("redirects", to)}
          origins={origins}
          setOrigins={(to) => edit.set("origins", to)}
        />
      </EditForm>
    </Panel>
  );
}

function Revoke({ path, data }: { path: string; data: Record }): JSX.Element {
  const { api, link, say } = useHere();
  const [isAsked, setAsked] = useState(false);
  const name = data.note || data.public_id.slice(-12);
  return (
    <Panel
      title="Revoke"
      lead="The credential’s public ID and all its private keys will stop working. You can’t undo this."
    >
      <div class="row">
        <Button kind="bad" onClick={() => setAsked(true)}>
          Revoke credential
        </Button>
      </div>
      {isAsked && (
        <Confirm
          title="Revoke credential"
          name={name}
          send="Revoke"
          close={() => setAsked(false)}
          does={async () => {
            for (const key of data.keys.filter((one) => !one.revoked_at))
              await api.remove(`${path}/keys/${encodeURIComponent(key.key_id)}`);
            await api.remove(path);
            say("Credential revoked.");
            location.hash = link("credentials");
          }}
        >
          <p>Within 30 seconds, we’ll stop accepting this credential from your pages and servers.</p>
        </Confirm>
      )}
    </Panel>
  );
}
