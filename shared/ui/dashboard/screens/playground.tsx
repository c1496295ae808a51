/**
 * Links to the playground (shared/ui/demo) with one of the organisation's public IDs. The playground is a page of the
 * public API, which the dashboard must not frame.
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Credential, Listed } from "../api/records.ts";
import { useHere, useQuery } from "../app/app.ts";
import { Empty, Field, LinkButton, Load, Notice, Out, Panel, Title } from "../parts/controls.tsx";

export function Playground(): JSX.Element {
  const { base, link, place } = useHere();
  const answer = useQuery<Listed<"credentials", Credential>>(`${base}/credentials`);
  return (
    <>
      <Title lead="Try the widget as your patients see it, and adjust each attribute.">Playground</Title>
      {place.mode === "live" && (
        <Notice tone="warn">
          <p>With a live public ID, the widget lists real institutions. A sign-in creates a real connection.</p>
        </Notice>
      )}
      <Load answer={answer}>
        {({ credentials }) => {
          return credentials.length === 0 ? (
            <Empty title="You need a public ID to use the playground.">
              <LinkButton kind="main" href={link("credentials")}>
                Create credential
              </LinkButton>
            </Empty>
          ) : (
            <Choose usable={credentials} />
          );
        }}
      </Load>
    </>
  );
}

function Choose({ usable }: { usable: Credential[] }): JSX.Element {
  const { boot, place, link } = useHere();
  const [id, setId] = useState(usable[0]?.public_id ?? "");
  return (
    <>
      <Panel title="Try the widget">
        <Field
          label="Credential"
          value={id}
          set={setId}
          choices={usable.map(({ public_id: of, note }) => [of, note ? `${note} (${of})` : of] as const)}
        />
        <div class="row">
          <Out button href={`${boot.base_url}/demo?public_id=${encodeURIComponent(id)}`}>
            Open playground
          </Out>
        </div>
      </Panel>
      {place.mode === "test" && (
        <Panel title="Connect a sample patient">
          <ol>
            <li>Press “Share Records”. Enter your email address, then the code we email you.</li>
            <li>Search for “sandbox” and continue to the sandbox hospital’s portal.</li>
            <li>Sign in as one of the sample patients and allow access.</li>
            <li>
              Come back to this page. See the patient in <a href={link("connections")}>Connections</a> and your
              webhook’s events in <a href={link("deliveries")}>Deliveries</a>.
            </li>
          </ol>
        </Panel>
      )}
    </>
  );
}
