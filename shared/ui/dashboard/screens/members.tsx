/** Members, their roles, and invitations. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Invitation, Member, Role } from "../api/records.ts";
import { useAction, useHere, useQuery } from "../app/app.ts";
import type { Action } from "../app/app.ts";
import { useEdit, type Fields } from "../app/edit.ts";
import { Button, Field, Form, Load, Notice, Panel, Title, Trouble } from "../parts/controls.tsx";
import { Confirm, Dialog } from "../parts/dialog.tsx";
import { EditForm } from "../parts/edit.tsx";
import { Table, Time } from "../parts/show.tsx";

const ROLES: readonly [role: Role, does: string][] = [
  ["owner", "All permissions"],
  ["admin", "Full access, except managing owners, requesting live mode and erasing data"],
  ["developer", "Access to test mode, including event payloads, and read-only access to live mode"],
  ["viewer", "Read-only access, without secrets or event payloads"],
];

export function Members(): JSX.Element {
  const { orgBase, may } = useHere();
  const answer = useQuery<{ members: Member[] }>(`${orgBase}/members`);
  return (
    <>
      <Title lead="A member’s role applies in both test and live mode.">Members</Title>
      <Load answer={answer}>{({ members }) => <List members={members} reload={answer.reload} />}</Load>
      {may("manage") && <Invitations />}
      <Panel title="Roles">
        <dl class="facts">
          {ROLES.map(([role, does]) => (
            <div key={role}>
              <dt>{role}</dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
      </Panel>
    </>
  );
}

function List({ members, reload }: { members: Member[]; reload: () => void }): JSX.Element {
  const { api, orgBase, may, session, say, refresh } = useHere();
  const action = useAction();
  const [leaving, setLeaving] = useState<Member>();
  const canChange = (one: Member): boolean => (one.role === "owner" ? may("own") : may("manage"));
  const path = ({ account_id: id }: Member): string => `${orgBase}/members/${encodeURIComponent(id)}`;
  const recovering = members.filter((one) => one.recovers_at);
  const stop = (one: Member) => () =>
    action.run(async () => {
      await api.remove(`${path(one)}/recovery`);
      say("Recovery stopped.");
      reload();
    });
  return (
    <>
      <Trouble failure={action.failure} />
      {recovering.map((one) => (
        <Notice key={one.account_id} tone="warn">
          <p>
            We received a report that {one.email} lost every second factor. We’ll remove the account’s second factors{" "}
            <Time at={one.recovers_at} />.
          </p>
          {may("own") && (
            <Button busy={action.busy} onClick={stop(one)} label={`Cancel account recovery for ${one.email}`}>
              Cancel account recovery
            </Button>
          )}
        </Notice>
      ))}
      <Table
        label="Members"
        head={["Email", "Role", "Since", "Actions"]}
        rows={members}
        keyOf={({ account_id: id }) => id}
        cells={(one) => [
          <>
            {one.email} {one.account_id === session.account.id && <span class="soft">(you)</span>}
          </>,
          canChange(one) ? <RoleField member={one} path={path(one)} action={action} reload={reload} /> : one.role,
          <Time at={one.since} />,
          canChange(one) && (
            <Button kind="quiet" onClick={() => setLeaving(one)} label={`Remove ${one.email}`}>
              Remove
            </Button>
          ),
        ]}
      />
      {leaving && (
        <Confirm
          title="Remove member"
          name={leaving.email}
          send="Remove"
          close={() => setLeaving(undefined)}
          does={async () => {
            await api.remove(path(leaving));
            setLeaving(undefined);
            if (leaving.account_id === session.account.id) await refresh();
            reload();
          }}
        >
          <p>The member will lose access immediately. Everything the member created will be kept.</p>
        </Confirm>
      )}
    </>
  );
}

const ROLE_FIELD: Fields<Member, { role: string }> = { role: { label: "Role", of: ({ role }) => role } };

/** A member's role. Choosing a role shows a button that changes the role. */
function RoleField({
  member,
  path,
  action,
  reload,
}: {
  member: Member;
  path: string;
  action: Action;
  reload: () => void;
}): JSX.Element {
  const { api, orgBase, may, say } = useHere();
  const load = async (): Promise<Member> => {
    const { members } = await api.get<{ members: Member[] }>(`${orgBase}/members`);
    const found = members.find((one) => one.account_id === member.account_id);
    if (found === undefined) throw new Error("This member was removed.");
    return found;
  };
  const edit = useEdit({
    data: member,
    fields: ROLE_FIELD,
    load,
    save: async ({ role }, version) => {
      await api.patch(path, { role }, version);
      return load();
    },
    done: (_, isSaved) => {
      if (isSaved) say("Role changed.");
      reload();
    },
  });
  const label = `Role of ${member.email}`;
  const { role } = edit.draft;
  return (
    <>
      <select aria-label={label} value={role} onChange={(event) => edit.set("role", event.currentTarget.value)}>
        {ROLES.filter(([of]) => of !== "owner" || may("own")).map(([of]) => (
          <option key={of} value={of} selected={of === role}>
            {of}
          </option>
        ))}
      </select>
      {edit.isChanged && (
        <Button busy={action.busy} onClick={() => action.run(edit.save)} label={`${label}: change to ${role}`}>
          Change
        </Button>
      )}
      {edit.conflict && (
        <Dialog title={label} close={edit.discard}>
          <EditForm edit={edit} action={action} what="role" />
        </Dialog>
      )}
    </>
  );
}

function Invitations(): JSX.Element {
  const { api, orgBase, may, say } = useHere();
  const answer = useQuery<{ invitations: Invitation[] }>(`${orgBase}/invitations`);
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<string>("developer");
  const action = useAction();
  const ending = useAction();
  const invite = async (): Promise<void> => {
    await api.post(`${orgBase}/invitations`, { email: email.trim(), role });
    say("Invitation sent.");
    setEmail("");
    answer.reload();
  };
  const end = (id: string) => () =>
    ending.run(async () => {
      await api.remove(`${orgBase}/invitations/${encodeURIComponent(id)}`);
      answer.reload();
    });
  return (
    <Panel
      title="Invite a member"
      lead="We’ll email the new member an invitation link. The link can be used once, expires after a week, and works only for the invited email address."
    >
      <Form action={action} does={invite} send="Invite">
        <Field label="Email" type="email" value={email} set={setEmail} required maxLength={254} />
        <Field
          label="Role"
          value={role}
          set={setRole}
          choices={ROLES.map(([of]) => of).filter((of) => of !== "owner" || may("own"))}
          help="See “Roles” below."
        />
      </Form>
      <Trouble failure={ending.failure} />
      <Load answer={answer}>
        {({ invitations }) =>
          invitations.length > 0 && (
            <Table
              label="Open invitations"
              head={["Email", "Role", "Expires", "Actions"]}
              rows={invitations}
              keyOf={({ id }) => id}
              cells={(one) => [
                one.email,
                one.role,
                <Time at={one.expires_at} />,
                <Button
                  kind="quiet"
                  busy={ending.busy}
                  onClick={end(one.id)}
                  label={`Revoke invitation for ${one.email}`}
                >
                  Revoke
                </Button>,
              ]}
            />
          )
        }
      </Load>
    </Panel>
  );
}
