/** Webhook deliveries of the last 15 days, with filters. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Delivery, Listed, Webhook, WebhookType } from "../api/records.ts";
import { useHere, useQuery } from "../app/app.ts";
import { Empty, Field, LinkButton, Load, Title } from "../parts/controls.tsx";
import { Badge, More, Table, Time } from "../parts/show.tsx";
import { ListExport } from "./listexport.tsx";

const STATUSES = [["", "any"], "delivered", "exhausted", "scheduled", "inflight", "held"] as const;

/** Returns the filters in the URL and functions that change these filters. id is the screen's part in the URL, if any. */
export function useFilters(
  screen: string,
  id = "",
): {
  filters: Record<string, string>;
  set: (name: string) => (value: string) => void;
  go: (cursor: string) => void;
} {
  const { place, link } = useHere();
  const to = (filters: Record<string, string>): void => {
    location.hash = link(screen, id, filters);
  };
  return {
    filters: place.filters,
    set: (name) => (value) => to({ ...place.filters, [name]: value, cursor: "" }),
    go: (cursor) => to({ ...place.filters, cursor }),
  };
}

/** Converts a date field's value to the API's timestamp of the day's start or end in the reader's time zone. */
export function dayTime(day: string | undefined, end: boolean): string | undefined {
  if (!day || Number.isNaN(Date.parse(day))) return undefined;
  const at = new Date(`${day}T00:00`);
  if (end) at.setDate(at.getDate() + 1);
  return at.toISOString();
}

/** Returns the filters as query parameters of the API. */
export const withDays = (filters: Record<string, string>): Record<string, string | undefined> => ({
  ...filters,
  from: dayTime(filters["from"], false),
  to: dayTime(filters["to"], true),
});

const COLUMNS = [
  "delivery_id",
  "event_id",
  "type",
  "webhook_id",
  "org_connection_id",
  "external_id",
  "status",
  "attempt",
  "last_status",
  "last_failure",
  "next_at",
  "created_at",
] as const;

export function Deliveries(): JSX.Element {
  const { base, link } = useHere();
  const { filters, set, go } = useFilters("deliveries");
  const { from, to } = filters;
  const query = withDays(filters);
  const answer = useQuery<Listed<"deliveries", Delivery>>(`${base}/deliveries`, query);
  const webhooks = useQuery<Listed<"webhooks", Webhook>>(`${base}/webhooks`);
  const types = useQuery<{ types: WebhookType[] }>(`${base}/webhook-types`);
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <Title lead="Events sent to your webhooks in the last 15 days.">Deliveries</Title>
      <div class="filters" role="search" aria-label="Filters">
        <Field label="Status" value={filters["status"] ?? ""} set={set("status")} choices={STATUSES} />
        <Field
          label="Type"
          value={filters["type"] ?? ""}
          set={set("type")}
          choices={[["", "any"], ...(types.data?.types.map(({ type }) => [type, type] as const) ?? [])]}
        />
        <Field
          label="Webhook"
          value={filters["webhook_id"] ?? ""}
          set={set("webhook_id")}
          choices={[
            ["", "any"],
            ...(webhooks.data?.webhooks.map(({ webhook_id: id, note, url }) => [id, note || url] as const) ?? []),
          ]}
        />
        <Field label="From" type="date" value={from ?? ""} set={set("from")} />
        <Field label="To" type="date" value={to ?? ""} set={set("to")} />
        <Late label="Event ID" value={filters["event_id"] ?? ""} set={set("event_id")} />
        <Late label="Connection or export" value={filters["subject"] ?? ""} set={set("subject")} />
      </div>
      <ListExport name="deliveries" query={query} columns={COLUMNS} />
      <Load answer={answer}>
        {({ deliveries, next, searched_to: searchedTo }) => (
          <>
            {deliveries.length === 0 && isFiltered ? (
              !searchedTo && (
                <Empty title="No deliveries match these filters.">
                  <LinkButton href={link("deliveries")}>Show all</LinkButton>
                </Empty>
              )
            ) : (
              <List
                deliveries={deliveries}
                webhooks={webhooks.data?.webhooks ?? []}
                none="No deliveries yet. To create a delivery, simulate an event on a webhook’s page."
              />
            )}
            <More cursor={next} searchedTo={searchedTo} go={go} />
          </>
        )}
      </Load>
    </>
  );
}

/** A field that takes effect on Enter or when it loses the focus. Typing therefore sends no requests. */
export function Late({
  label,
  value,
  set,
}: {
  label: string;
  value: string;
  set: (value: string) => void;
}): JSX.Element {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  return (
    <Field
      label={label}
      type="search"
      value={typed}
      set={setTyped}
      onChange={(event) => set(event.currentTarget.value.trim())}
    />
  );
}

/** A list of deliveries. Without webhooks, the list has no column for them. */
export function List({
  deliveries,
  webhooks,
  none,
}: {
  deliveries: Delivery[];
  webhooks?: Webhook[];
  none: string;
}): JSX.Element {
  const { link } = useHere();
  if (deliveries.length === 0) return <Empty title={none} />;
  const nameOf = (id: string): string => {
    const found = webhooks?.find((one) => one.webhook_id === id);
    return found ? found.note || new URL(found.url).host : id.slice(0, 8);
  };
  return (
    <Table
      label="Deliveries"
      head={["Event", ...(webhooks ? ["Webhook"] : []), "External ID", "Status", "Response", "Attempts", "Created"]}
      rows={deliveries}
      keyOf={(one) => one.delivery_id}
      cells={(one) => [
        <a href={link("deliveries", one.delivery_id)}>{one.type || one.event_id}</a>,
        ...(webhooks ? [nameOf(one.webhook_id)] : []),
        <Patient of={one} />,
        <Badge of={one.status} />,
        response(one),
        one.status === "scheduled" ? (
          <>
            {one.attempt - 1}, <span class="soft">next</span> <Time at={one.next_at} />
          </>
        ) : (
          one.attempt
        ),
        <Time at={one.created_at} />,
      ]}
    />
  );
}

function Patient({ of: { org_connection_id: id, external_id: text } }: { of: Delivery }): JSX.Element {
  const { link } = useHere();
  return id && text ? (
    <a class="break" href={link("connections", id)}>
      {text}
    </a>
  ) : (
    <span class="soft none">–</span>
  );
}

/** Returns the last attempt's HTTP status or, without a response, its failure. */
function response({ last_status: status, last_failure: failure }: Delivery): JSX.Element | string {
  if (status) return String(status);
  return failure ? failure.replaceAll("_", " ") : <span class="soft none">–</span>;
}
