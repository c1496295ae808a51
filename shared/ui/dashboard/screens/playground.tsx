/** The way to the playground (shared/ui/demo) with a public id of one's own. It is a page of the public API's, which this page may not hold. */
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
      <Title lead="The widget as your patients have it, with every attribute as a control.">Playground</Title>
      {place.mode === "live" && (
        <Notice tone="warn">
          <p>With a live public id real institutions are shown, and whoever signs in there connects for real.</p>
        </Notice>
      )}
      <Load answer={answer}>
        {({ credentials }) => {
          return credentials.length === 0 ? (
            <Empty title="It needs a public id.">
              <LinkButton kind="main" href={link("credentials")}>
                Create a credential
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
      <Panel title="Try it">
        <Field label="Credential" value={id} set={setId} choices={usable.map(({ public_id: of, note }) => [of, note ? `${note} (${of})` : of] as const)} />
        <div class="row">
          <Out button href={`${boot.base_url}/demo?public_id=${encodeURIComponent(id)}`}>
            Open the playground
          </Out>
        </div>
      </Panel>
      {place.mode === "test" && (
        <Panel title="How to connect an invented patient">
          <ol>
            <li>Press “Share Records”, type an address, and the code that it is sent.</li>
            <li>Search for “sandbox”, and go on to its portal.</li>
            <li>Sign in as one of the invented patients that it names, and allow access.</li>
            <li>
              Come back: the patient is in <a href={link("connections")}>Connections</a>, and what your webhook was told in <a href={link("deliveries")}>Deliveries</a>.
            </li>
          </ol>
        </Panel>
      )}
    </>
  );
}
