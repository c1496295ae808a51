/** Deletion of the organisation: schedule, consequences and cancellation. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { OrganisationDeletion } from "../api/records.ts";
import { useAction, useHere, useQuery } from "../app/app.ts";
import { Button, Notice, Panel, Trouble } from "../parts/controls.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Facts, Time } from "../parts/show.tsx";

export function Leaving(): JSX.Element {
  const { api, orgBase, org, may, say } = useHere();
  const answer = useQuery<OrganisationDeletion>(`${orgBase}/deletion`);
  const [asking, setAsking] = useState(false);
  const action = useAction();
  const deletion = answer.failure ? undefined : answer.data;
  const isUnknown = answer.failure !== undefined && answer.failure.status !== 404;
  const cancel = (): void =>
    action.run(async () => {
      await api.remove(`${orgBase}/deletion`);
      answer.reload();
      say("Deletion cancelled.");
    });
  return (
    <Panel
      title="Delete organisation"
      lead="Deleting the organisation disconnects all patients and erases everything except the audit log."
    >
      {isUnknown && <Trouble failure={answer.failure} retry={answer.reload} />}
      {deletion && (
        <>
          <Notice tone="bad">
            <p>
              {deletion.can_cancel
                ? "This organisation will be deleted. The organisation will work as usual until the deletion begins."
                : "This organisation is being deleted. You can no longer cancel the deletion."}
            </p>
          </Notice>
          <Facts
            of={[
              ["Requested", <Time at={deletion.requested_at} />],
              ["Deletion begins", <Time at={deletion.begins_at} />],
            ]}
          />
        </>
      )}
      {deletion?.can_cancel && may("own") && (
        <Button busy={action.busy} onClick={cancel}>
          Cancel deletion
        </Button>
      )}
      {!deletion &&
        !isUnknown &&
        (may("own") ? (
          <Button kind="bad" onClick={() => setAsking(true)}>
            Delete organisation
          </Button>
        ) : (
          <p>Only owners can delete the organisation.</p>
        ))}
      <Trouble failure={action.failure} />
      {asking && (
        <Confirm
          title="Delete organisation"
          name={org.name}
          send="Delete in 7 days"
          close={() => setAsking(false)}
          does={async () => {
            answer.set(await api.post<OrganisationDeletion>(`${orgBase}/deletion`, { name: org.name }));
            setAsking(false);
          }}
        >
          <p>
            The deletion will begin in seven days. Until the deletion begins, the organisation will work as usual, and
            any owner can cancel the deletion.
          </p>
          <p>
            When the deletion begins, API keys and webhooks will stop working, and all patients will be disconnected.
            Connections, exports, files, events and members will be deleted. You can’t undo this.
          </p>
          <p>We’ll email all members as soon as you confirm.</p>
        </Confirm>
      )}
    </Panel>
  );
}
