/** Exports of records: how far each has come, what was collected, what is missing, and why. */
import type { JSX } from "preact";
import type { ExportDetail, ExportLine as Row, FileSummary, Listed, TypeOutcome, Webhook } from "../api/records.ts";
import { useHere, useQuery } from "../app/app.ts";
import { Button, Empty, Field, LinkButton, Load, Notice, Panel, Title } from "../parts/controls.tsx";
import { Badge, bytes, counted, Facts, Id, More, Table, Time } from "../parts/show.tsx";
import { Share } from "../parts/chart.tsx";
import { Late, useFilters } from "./deliveries.tsx";

/** Why something is missing, by its word (docs/guide/incomplete-records.md). */
const REASONS: Record<string, string> = {
  unsupported: "The portal offers no search for it.",
  not_granted: "The patient’s authorization does not cover it.",
  not_requested: "Our authorization request did not name it.",
  not_advertised: "The portal does not list it, and whether it has it could not be tried.",
  other_server: "The record names it at another server, which is not asked.",
  not_found: "The record names it, and the portal does not have it.",
  rejected: "The portal says that it has it, and refuses every way of asking.",
  refused: "The portal refuses access.",
  limit: "It is beyond what one export may hold.",
  not_converted: "Parts of a document have no place in FHIR, or aren’t valid.",
  foreign_link: "The link to the next page leads away from the portal’s server.",
  too_large: "It is larger than what is read of one document.",
  unavailable: "The portal answered with errors, or not at all, for as long as an export waits.",
  invalid_content: "What the portal answered is no FHIR in JSON.",
};

const FAILURES: Record<string, string> = {
  token_refresh_failure: "The portal does not renew the authorization: the patient has to reconnect.",
  scope_patient_missing: "The patient did not allow their record to be read.",
  resource_patient_failure: "The portal did not give the patient’s own resource.",
  resource_invalid_content: "What the portal answered cannot be read.",
  tefca_no_documents_found: "The facility has no documents of the patient.",
  suppressed_please_contact: "Write to us: something has to be looked at.",
};

/** Why something is missing, or may be. */
export function why({ reason, http_status: status, only_by: by, left_out: others = 0 }: TypeOutcome): string {
  const said = [
    reason && (REASONS[reason] ?? reason),
    status && `It answered with ${status}.`,
    by && `The portal gives it by ${by} alone: what has an unknown one may be missing.`,
    others > 0 && `${counted(others)} were another patient’s, and are left out.`,
  ];
  return said.filter(Boolean).join(" ");
}

/** What is missing, though it was granted and is offered. */
export const isLoss = ({ reason }: TypeOutcome): boolean => reason !== undefined && reason !== "" && !["unsupported", "not_granted"].includes(reason);

/** Whether a type has a line of its own: of most there is nothing, and nothing missing. */
const hasNews = (one: TypeOutcome): boolean => one.count > 0 || isLoss(one) || (one.left_out ?? 0) > 0;

const QUIET: readonly (readonly [says: string, has: (one: TypeOutcome) => boolean])[] = [
  ["The patient’s authorization does not cover", ({ reason }) => reason === "not_granted"],
  ["Asked for, and there was none", ({ reason }) => !reason],
  ["The portal offers no search for", ({ reason }) => reason === "unsupported"],
];

export function Exports(): JSX.Element {
  const { base, link } = useHere();
  const { filters, set, go } = useFilters("exports");
  const answer = useQuery<Listed<"exports", Row>>(`${base}/exports`, filters);
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <Title lead="Each is one request for the record of one connection. Files are had by webhook alone.">Exports</Title>
      <div class="filters" role="search" aria-label="Filters">
        <Field label="Status" value={filters["status"] ?? ""} set={set("status")} choices={[["", "any"], "pending", "success", "failed"]} />
        <Late label="Connection id" value={filters["connection_id"] ?? ""} set={set("connection_id")} />
      </div>
      <Load answer={answer}>
        {({ exports, next }) => (
          <>
            {exports.length === 0 && isFiltered ? (
              <Empty title="No export is like that.">
                <LinkButton href={link("exports")}>Show all</LinkButton>
              </Empty>
            ) : (
              <ExportList exports={exports} none="No record was asked for yet. The overview has the code for it." />
            )}
            <More cursor={next} go={go} />
          </>
        )}
      </Load>
    </>
  );
}

export function ExportList({ exports, none }: { exports: Row[]; none: string }): JSX.Element {
  const { link } = useHere();
  if (exports.length === 0) return <Empty title={none} />;
  return (
    <Table
      label="Exports"
      head={["Export", "Status", "Connection", "Asked", "Ended"]}
      rows={exports}
      keyOf={(one) => one.task_id}
      cells={(one) => [
        <a href={link("exports", one.task_id)}><Id of={one.task_id} /></a>,
        <Badge of={one.status} />,
        <a href={link("connections", one.org_connection_id)}><Id of={one.org_connection_id.slice(0, 8)} /></a>,
        <Time at={one.created_at} />,
        <Time at={one.finished_at} />,
      ]}
    />
  );
}

export function Export({ id }: { id: string }): JSX.Element {
  const { base, link } = useHere();
  const answer = useQuery<ExportDetail>(`${base}/exports/${encodeURIComponent(id)}`);
  return (
    <>
      <p class="back">
        <a href={link("exports")}>Exports</a>
      </p>
      <Title>Export</Title>
      <Load answer={answer}>{(data) => <Whole data={data} reload={answer.reload} />}</Load>
    </>
  );
}

function Whole({ data, reload }: { data: ExportDetail; reload: () => void }): JSX.Element {
  const { link } = useHere();
  const { progress } = data;
  const actions = (
    <>
      {data.event_id && <LinkButton href={link("deliveries", "", { event_id: data.event_id })}>Its deliveries</LinkButton>}
      <Button onClick={reload}>Look again</Button>
    </>
  );
  return (
    <>
      <Panel title="How it stands" actions={actions}>
        <Facts
          of={[
            ["Status", <Badge of={data.status} />],
            ["Id", <Id of={data.task_id} />],
            ["Connection", <a href={link("connections", data.org_connection_id)}><Id of={data.org_connection_id} /></a>],
            ["Asked", <Time at={data.created_at} exact />],
            data.finished_at ? ["Ended", <Time at={data.finished_at} exact />] : undefined,
            data.status === "success" && data.files_until ? ["Files are kept until", <Time at={data.files_until} exact />] : undefined,
            data.scope?.asked ? ["Asked for", <span class="break">{data.scope.asked}</span>] : undefined,
            data.scope?.granted ? ["Granted", <span class="break">{data.scope.granted}</span>] : undefined,
            progress.resources > 0 && ["Collected", `${counted(progress.resources)} resources, ${bytes(progress.bytes)}`],
          ]}
        />
        {data.status === "pending" && progress.queries_planned > 0 && (
          <p class="row">
            <progress max={progress.queries_planned} value={progress.queries_done} aria-label="Queries that are done" />
            <span class="soft">{progress.queries_done} of {progress.queries_planned} queries; there may be more</span>
          </p>
        )}
        {data.failure_reason && (
          <Notice tone="bad">
            <p>{FAILURES[data.failure_reason] ?? data.failure_reason} <code>{data.failure_reason}</code></p>
          </Notice>
        )}
        {data.suggested_action && (
          <Notice>
            <p><strong>What to do:</strong> {data.suggested_action}</p>
          </Notice>
        )}
      </Panel>
      <Outcome outcome={data.outcome} status={data.status} />
      {data.files.length > 0 && <Files files={data.files} />}
      {data.deliveries.length > 0 && <Told deliveries={data.deliveries} />}
    </>
  );
}

/** What was collected and what is missing, type by type, the missing first. */
function Outcome({ outcome, status }: { outcome: TypeOutcome[]; status: string }): JSX.Element | null {
  if (outcome.length === 0) return status === "pending" ? null : <Panel title="What was collected"><p class="soft">Nothing was.</p></Panel>;
  const rows = outcome.filter(hasNews).sort((a, b) => Number(isLoss(b)) - Number(isLoss(a)) || b.count - a.count || a.type.localeCompare(b.type));
  const lost = rows.filter(isLoss).length;
  return (
    <Panel title="What was collected" lead={lost === 0 ? "The record is whole, as far as the patient allows and the portal offers." : `${lost} of ${outcome.length} types are not whole.`}>
      <Table
        label="Resource types"
        head={["Type", "Collected", "How many", "Missing", "Why"]}
        rows={rows}
        keyOf={({ type }) => type}
        cells={(one) => [
          <>{one.type} <Badge of={one.result} /></>,
          <Share count={one.count} missing={one.missing ?? 0} />,
          counted(one.count),
          one.missing ? counted(one.missing) : isLoss(one) ? "some" : <span class="soft none">–</span>,
          why(one) || <span class="soft none">–</span>,
        ]}
      />
      {QUIET.map(([says, has]) => {
        const types = outcome.filter((one) => !hasNews(one) && has(one)).map(({ type }) => type).sort();
        return types.length > 0 && (
          <details key={says}>
            <summary><span>{says} <span class="soft">{types.length}</span></span></summary>
            <p class="soft">{types.join(", ")}</p>
          </details>
        );
      })}
    </Panel>
  );
}

const KINDS = { jsonl: "FHIR, one resource a line", jsonl_gz: "the same, compressed", fhir_bundle: "FHIR bundle", outcome: "what is missing, and why" } as const;

function Files({ files }: { files: FileSummary[] }): JSX.Element {
  return (
    <Panel title="Files" lead="Your webhook has their links.">
      <Table
        label="Files"
        head={["File", "What", "Size", "SHA-256"]}
        rows={files}
        keyOf={({ file_name: name }) => name}
        cells={(one) => [<span class="break">{one.file_name}</span>, KINDS[one.export_type], bytes(one.bytes), <Id of={one.sha256} />]}
      />
    </Panel>
  );
}

/** Who was told of its end. */
function Told({ deliveries }: Pick<ExportDetail, "deliveries">): JSX.Element {
  const { base, link } = useHere();
  const webhooks = useQuery<Listed<"webhooks", Webhook>>(`${base}/webhooks`).data?.webhooks ?? [];
  return (
    <Panel title="Who was told">
      <Table
        label="Who was told"
        head={["Webhook", "Delivery"]}
        rows={deliveries}
        keyOf={({ delivery_id: id }) => id}
        cells={(one) => {
          const webhook = webhooks.find(({ webhook_id: id }) => id === one.webhook_id);
          return [<a class="break" href={link("deliveries", one.delivery_id)}>{webhook ? webhook.note || webhook.url : one.webhook_id}</a>, <Badge of={one.status} />];
        }}
      />
    </Panel>
  );
}
