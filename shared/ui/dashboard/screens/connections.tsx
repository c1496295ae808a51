/** Lists connections by ID and status, without health data. */
import type { JSX } from "preact";
import type { ConnectionLine, Listed } from "../api/records.ts";
import { useHere, useQuery } from "../app/app.ts";
import { Empty, Field, LinkButton, Load, Title } from "../parts/controls.tsx";
import { Badge, Id, More, Table, Time } from "../parts/show.tsx";
import { Late, useFilters } from "./deliveries.tsx";

export function Connections(): JSX.Element {
  const { base, link } = useHere();
  const { filters, set, go } = useFilters("connections");
  const answer = useQuery<Listed<"connections", ConnectionLine>>(`${base}/connections`, filters);
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <Title lead="Each row represents one patient at one institution. This page shows no health data.">
        Connections
      </Title>
      <div class="filters" role="search" aria-label="Filters">
        <Late label="Connection ID" value="" set={(id) => id !== "" && location.assign(link("connections", id))} />
        <Late label="External ID" value={filters["external_id"] ?? ""} set={set("external_id")} />
        <Field
          label="Status"
          value={filters["status"] ?? ""}
          set={set("status")}
          choices={[["", "any"], "authorized", "revoked", "rejected"]}
        />
        <Late label="Endpoint ID" value={filters["endpoint_id"] ?? ""} set={set("endpoint_id")} />
      </div>
      <Load answer={answer}>
        {({ connections, next }) => (
          <>
            {connections.length === 0 ? (
              <Empty title={isFiltered ? "No connections match these filters." : "No patients have connected yet."}>
                {isFiltered ? (
                  <LinkButton href={link("connections")}>Show all</LinkButton>
                ) : (
                  <LinkButton href={link("playground")}>Open playground</LinkButton>
                )}
              </Empty>
            ) : (
              <Table
                label="Connections"
                head={["Institution", "External ID", "Status", "ID", "Created"]}
                rows={connections}
                keyOf={(one) => one.org_connection_id}
                cells={(one) => [
                  <a href={link("connections", one.org_connection_id)}>{one.endpoint_name ?? one.platform_type}</a>,
                  one.external_id ? <span class="break">{one.external_id}</span> : <span class="soft none">–</span>,
                  <Badge of={one.status} />,
                  <Id of={one.org_connection_id} />,
                  <Time at={one.created_at} />,
                ]}
              />
            )}
            <More cursor={next} go={go} />
          </>
        )}
      </Load>
    </>
  );
}
