/** Searches the catalogue of institutions and shows the health of their endpoints. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { CatalogHit, Credential, Listed } from "../api/records.ts";
import { useAction, useHere, useQuery } from "../app/app.ts";
import { Button, Copy, Empty, LinkButton, Load, Title, Trouble } from "../parts/controls.tsx";
import { Badge, Id, Table } from "../parts/show.tsx";
import { Late, useFilters } from "./deliveries.tsx";

const HEALTH = {
  ok: ["working", "good"],
  degraded: ["partly failing", "warn"],
  down: ["down", "bad"],
  unknown: ["not checked", "soft"],
} as const;

export function Institutions(): JSX.Element {
  const { base, link } = useHere();
  const credentials = useQuery<Listed<"credentials", Credential>>(`${base}/credentials`);
  return (
    <>
      <Title lead="Patients can find these institutions in the widget.">Institutions</Title>
      <Load answer={credentials}>
        {({ credentials: [first] }) =>
          first === undefined ? (
            <Empty title="Create a credential first.">
              <p>The search needs a credential’s public ID.</p>
              <LinkButton href={link("credentials")}>Create credential</LinkButton>
            </Empty>
          ) : (
            <Search publicId={first.public_id} />
          )
        }
      </Load>
    </>
  );
}

function Search({ publicId }: { publicId: string }): JSX.Element {
  const { filters, set } = useFilters("institutions");
  const query = filters["q"] ?? "";
  return (
    <>
      <div class="filters" role="search" aria-label="Institutions">
        <Late label="Name, city or ZIP code" value={query} set={set("q")} />
      </div>
      <Results key={query} publicId={publicId} query={query} />
    </>
  );
}

interface Page {
  hits: { total: { value: number }; hits: CatalogHit[] };
}

function Results({ publicId, query }: { publicId: string; query: string }): JSX.Element {
  const { api } = useHere();
  const action = useAction();
  const [found, setFound] = useState<{ total: number; hits: CatalogHit[] }>();
  const load = (before: CatalogHit[] = []): void =>
    action.run(async () => {
      const last = before.at(-1);
      const body = { query, suggest: true, ...(last && { searchAfter: last.sort }) };
      const { hits } = await api.bridge<Page>("catalog/search", { public_id: publicId }, body);
      setFound({ total: hits.total.value, hits: [...before, ...hits.hits] });
    });
  useEffect(load, []);
  return (
    <>
      <Trouble failure={action.failure} retry={() => load(found?.hits)} />
      {found?.hits.length === 0 && <Empty title="No institutions match this search." />}
      {found && found.hits.length > 0 && (
        <Table
          label="Institutions"
          head={["Institution", "Place", "Platform", "Portal", "Brand ID"]}
          rows={found.hits}
          keyOf={({ _id }) => _id}
          cells={({ _source: one }) => [
            one.name,
            placeOf(one) || <span class="soft none">–</span>,
            one.platform_type,
            <Badge of={HEALTH[one.health.state][0]} tone={HEALTH[one.health.state][1]} />,
            <>
              <Id of={one.id} /> <Copy text={one.id} what="brand ID" />
            </>,
          ]}
        />
      )}
      {found && found.hits.length < found.total && (
        <div class="row">
          <Button busy={action.busy} onClick={() => load(found.hits)}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
}

/** Returns the first location's city and state, and the number of further locations. */
function placeOf({ locations: [first, ...others] }: CatalogHit["_source"]): string {
  if (first === undefined) return "";
  const place = [first.city, first.state].filter((part) => part !== "").join(", ");
  return others.length === 0 || place === "" ? place : `${place} and ${others.length} more`;
}
