/** API requests and sign-in attempts of the last 30 days, with filters. */
import type { ComponentChildren, JSX } from "preact";
import type { Credential, Listed, LoggedRequest, SignIn } from "../api/records.ts";
import { useHere, useQuery } from "../app/app.ts";
import { Copy, Empty, Field, LinkButton, Load, Panel, Title } from "../parts/controls.tsx";
import { Badge, Facts, Id, More, Table, Time } from "../parts/show.tsx";
import { Late, useFilters, withDays } from "./deliveries.tsx";

const SECTIONS = [
  ["", "Requests"],
  ["sign-ins", "Sign-ins"],
] as const;
/** The section's part in the URL. */
type Section = (typeof SECTIONS)[number][0];

const STATUSES = [["", "any"], ["error", "failed"], "2xx", "3xx", "4xx", "5xx"] as const;
const KINDS: Record<SignIn["kind"], string> = { connect: "New connection", reconnect: "Reconnect", tefca: "TEFCA" };

export const Logs = (): JSX.Element => <Log id="" />;

/** One of the screen's sections. */
export function Log({ id }: { id: string }): JSX.Element {
  const { link } = useHere();
  return (
    <>
      <Title lead="To find out why an API request failed, search for the request_id in the error response.">Logs</Title>
      <div class="sections" role="navigation" aria-label="Logs">
        {SECTIONS.map(([name, title]) => (
          <a key={name} href={link("logs", name)} aria-current={name === id ? "page" : undefined}>
            {title}
          </a>
        ))}
      </div>
      {id === "sign-ins" ? <SignIns /> : <Requests />}
    </>
  );
}

function Requests(): JSX.Element {
  const { base } = useHere();
  const search = useSearch("");
  const { filters, set } = search;
  const answer = useQuery<Listed<"requests", LoggedRequest>>(`${base}/requests`, search.query);
  const credentials = useQuery<Listed<"credentials", Credential>>(`${base}/credentials`);
  return (
    <>
      <div class="filters" role="search" aria-label="Filters">
        <Late label="Request ID" value={filters["request_id"] ?? ""} set={set("request_id")} />
        <Field label="Status" value={filters["status"] ?? ""} set={set("status")} choices={STATUSES} />
        <Late label="Route" value={filters["route"] ?? ""} set={set("route")} />
        <Field
          label="Credential"
          value={filters["public_id"] ?? ""}
          set={set("public_id")}
          choices={[
            ["", "any"],
            ...(credentials.data?.credentials.map(({ public_id: of, note }) => [of, note || of] as const) ?? []),
          ]}
        />
        <Patient search={search} />
      </div>
      <Load answer={answer}>
        {({ requests, next }) => (
          <>
            {requests.length === 0 ? (
              <None search={search} none="No API requests yet. Copy sample code from the overview to send one." />
            ) : filters["request_id"] ? (
              requests.map((one) => <RequestPanel key={one.request_id} of={one} />)
            ) : (
              <Table
                label="Requests"
                head={["Request", "Status", "Error", "Latency", "Time"]}
                rows={requests}
                keyOf={(one) => one.request_id}
                cells={(one) => [
                  <a class="break" href={search.of(one.request_id)}>
                    {one.method} {one.route}
                  </a>,
                  <Status of={one} />,
                  one.error ?? <span class="soft none">–</span>,
                  `${one.latency_ms} ms`,
                  <Time at={one.at} />,
                ]}
              />
            )}
            <More cursor={next} go={search.go} />
          </>
        )}
      </Load>
    </>
  );
}

function SignIns(): JSX.Element {
  const { base } = useHere();
  const search = useSearch("sign-ins");
  const { filters, set } = search;
  const answer = useQuery<Listed<"sign_ins", SignIn>>(`${base}/sign-ins`, search.query);
  return (
    <>
      <div class="filters" role="search" aria-label="Filters">
        <Late label="Request ID" value={filters["request_id"] ?? ""} set={set("request_id")} />
        <Field
          label="Outcome"
          value={filters["outcome"] ?? ""}
          set={set("outcome")}
          choices={[["", "any"], "connected", "failed", "cancelled"]}
        />
        <Late label="Cause" value={filters["cause"] ?? ""} set={set("cause")} />
        <Patient search={search} />
      </div>
      <Load answer={answer}>
        {({ sign_ins: attempts, next }) => (
          <>
            {attempts.length === 0 ? (
              <None search={search} none="No patients have signed in yet. Try the widget in the playground." />
            ) : filters["request_id"] ? (
              attempts.map((one) => <SignInPanel key={keyOf(one)} of={one} />)
            ) : (
              <Table
                label="Sign-ins"
                head={["Institution", "Outcome", "Cause", "Type", "Time"]}
                rows={attempts}
                keyOf={keyOf}
                cells={(one) => [
                  <a href={search.of(one.request_id)}>{institution(one)}</a>,
                  <Badge of={one.outcome} />,
                  one.cause?.replaceAll("_", " ") ?? <span class="soft none">–</span>,
                  KINDS[one.kind],
                  <Time at={one.at} />,
                ]}
              />
            )}
            <More cursor={next} go={search.go} />
          </>
        )}
      </Load>
    </>
  );
}

interface Search extends ReturnType<typeof useFilters> {
  section: Section;
  query: Record<string, string | undefined>; // the filters as the API expects them
  of: (requestId: string) => string; // the URL of a request's details
}

function useSearch(section: Section): Search {
  const { link } = useHere();
  const { filters, ...change } = useFilters("logs", section);
  return {
    ...change,
    filters,
    section,
    query: withDays(filters),
    of: (requestId) => link("logs", section, { request_id: requestId }),
  };
}

/** The filters that both sections have. */
const Patient = ({ search: { filters, set } }: { search: Search }): JSX.Element => (
  <>
    <Late label="Connection ID" value={filters["connection_id"] ?? ""} set={set("connection_id")} />
    <Late label="External ID" value={filters["external_id"] ?? ""} set={set("external_id")} />
    <Field label="From" type="date" value={filters["from"] ?? ""} set={set("from")} />
    <Field label="To" type="date" value={filters["to"] ?? ""} set={set("to")} />
  </>
);

/** An empty list. A request ID may belong to the other section. */
function None({ search: { filters, section }, none }: { search: Search; none: string }): JSX.Element {
  const { link } = useHere();
  const [other, title] = section === "" ? SECTIONS[1] : SECTIONS[0];
  const requestId = filters["request_id"];
  if (Object.keys(filters).length === 0) {
    return (
      <Empty title={none}>
        <LinkButton href={link(section === "" ? "" : "playground")}>
          {section === "" ? "Open overview" : "Open playground"}
        </LinkButton>
      </Empty>
    );
  }
  return (
    <Empty title="No entries of the last 30 days match these filters.">
      {requestId && <p>The log omits requests with an unknown or wrong key.</p>}
      {requestId && (
        <LinkButton href={link("logs", other, { request_id: requestId })}>Search {title.toLowerCase()}</LinkButton>
      )}
      <LinkButton href={link("logs", section)}>Show all</LinkButton>
    </Empty>
  );
}

const Status = ({ of: { status, error } }: { of: LoggedRequest }): JSX.Element => (
  <Badge of={String(status)} tone={error ? "bad" : "good"} />
);

const institution = (one: SignIn): string =>
  one.endpoint_name ?? one.tefca_directory_id ?? one.endpoint_id ?? KINDS[one.kind];

const keyOf = (one: SignIn): string => `${one.attempt_id} ${one.tefca_directory_id ?? ""} ${one.at}`;

const copied = (id: string, what: string): ComponentChildren => (
  <>
    <Id of={id} /> <Copy text={id} what={what} />
  </>
);

function RequestPanel({ of: one }: { of: LoggedRequest }): JSX.Element {
  const { link } = useHere();
  return (
    <Panel title={`${one.method} ${one.route}`}>
      <Facts
        of={[
          ["Status", <Status of={one} />],
          one.error !== undefined && ["Error", <code>{one.error}</code>],
          ["Time", <Time at={one.at} exact />],
          ["Latency", `${one.latency_ms} ms`],
          ["Request ID", copied(one.request_id, "request ID")],
          ["Credential", <a href={link("credentials", one.public_id)}>{one.public_id}</a>],
          one.org_connection_id !== undefined && [
            "Connection",
            <a href={link("connections", one.org_connection_id)}>{one.org_connection_id}</a>,
          ],
          one.task_id !== undefined && ["Export", <a href={link("exports", one.task_id)}>{one.task_id}</a>],
        ]}
      />
    </Panel>
  );
}

function SignInPanel({ of: one }: { of: SignIn }): JSX.Element {
  const { link } = useHere();
  const ids: [string, string | undefined][] = [
    ["Brand ID", one.brand_id],
    ["Portal ID", one.portal_id],
    ["Endpoint ID", one.endpoint_id],
    ["Facility ID", one.tefca_directory_id],
    ["Attempt ID", one.attempt_id],
  ];
  return (
    <Panel title={institution(one)}>
      <Facts
        of={[
          ["Outcome", <Badge of={one.outcome} />],
          one.cause !== undefined && ["Cause", <code>{one.cause}</code>],
          ["Type", KINDS[one.kind]],
          ["Time", <Time at={one.at} exact />],
          ["Duration", `${Math.round(one.duration_ms / 1000)} s`],
          one.org_connection_id !== undefined && [
            "Connection",
            <a href={link("connections", one.org_connection_id)}>{one.org_connection_id}</a>,
          ],
          ["Request ID", copied(one.request_id, "request ID")],
          ...ids.map(([name, id]) => id !== undefined && ([name, <Id of={id} />] as const)),
        ]}
      />
    </Panel>
  );
}
