/** Exports of records: progress, collected data, and missing data with the reasons. */
import type { JSX } from "preact";
import type { ExportDetail, ExportLine as Row, FileSummary, Listed, TypeOutcome, Webhook } from "../api/records.ts";
import { useHere, useQuery } from "../app/app.ts";
import { Button, Empty, Field, LinkButton, Load, Notice, Panel, Title } from "../parts/controls.tsx";
import { Badge, bytes, counted, Facts, Id, More, Table, Time } from "../parts/show.tsx";
import { Share } from "../parts/chart.tsx";
import { Late, useFilters } from "./deliveries.tsx";

/** Reasons for missing data, by code (docs/guide/incomplete-records.md). */
const REASONS: Record<string, string> = {
  unsupported: "The portal doesn’t support searching for this resource type.",
  not_granted: "The patient’s authorization doesn’t cover this resource type.",
  not_requested: "Our authorization request didn’t include this resource type.",
  not_advertised: "The portal doesn’t list this resource type, and our search for it failed or was skipped.",
  other_server: "The record references resources on a server that we don’t query.",
  not_found: "The record references resources that the portal doesn’t have.",
  rejected: "The portal lists this resource type but rejects every query for it.",
  refused: "The portal denies access to this resource type.",
  limit: "The data exceeds the size limits for a single export.",
  not_converted: "Parts of a document are invalid or can’t be converted to FHIR.",
  foreign_link: "The portal’s next-page link points to a different server.",
  too_large: "A response or attachment exceeds the size limit.",
  unavailable: "The portal returned errors or didn’t respond before the export’s deadline.",
  invalid_content: "The portal’s response isn’t FHIR JSON.",
};

const FAILURES: Record<string, string> = {
  token_refresh_failure: "The portal doesn’t support automatic renewal of access. The patient must reconnect.",
  scope_patient_missing: "The patient didn’t allow access to their record.",
  resource_patient_failure: "The portal didn’t return the Patient resource.",
  resource_invalid_content: "We couldn’t read the portal’s response.",
  tefca_no_documents_found: "The facility has no documents for this patient.",
  suppressed_please_contact: "Contact us so that we can investigate the failure.",
};

/** Explains why data is missing or may be missing. */
export function why({ reason, http_status: status, only_by: by, left_out: others = 0 }: TypeOutcome): string {
  const said = [
    reason && (REASONS[reason] ?? reason),
    status && `The portal returned HTTP status ${status}.`,
    by && `The portal supports searching only by ${by}. Resources with an unknown ${by} may be missing.`,
    others > 0 && `We excluded ${counted(others)} ${others === 1 ? "resource" : "resources"} of another patient.`,
  ];
  return said.filter(Boolean).join(" ");
}

/** Reports whether data is missing although it was granted and is supported. */
export const isLoss = ({ reason }: TypeOutcome): boolean =>
  reason !== undefined && reason !== "" && !["unsupported", "not_granted"].includes(reason);

/** Reports whether a type gets its own table row. Most types have neither collected nor missing data. */
const hasNews = (one: TypeOutcome): boolean => one.count > 0 || isLoss(one) || (one.left_out ?? 0) > 0;

const QUIET: readonly (readonly [says: string, has: (one: TypeOutcome) => boolean])[] = [
  ["Not covered by the patient’s authorization", ({ reason }) => reason === "not_granted"],
  ["Requested, but no data found", ({ reason }) => !reason],
  ["Search not supported by the portal", ({ reason }) => reason === "unsupported"],
];

export function Exports(): JSX.Element {
  const { base, link } = useHere();
  const { filters, set, go } = useFilters("exports");
  const answer = useQuery<Listed<"exports", Row>>(`${base}/exports`, filters);
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <Title lead="Each export collects a patient’s record from one connection. You can get the download links by webhook or through the API.">
        Exports
      </Title>
      <div class="filters" role="search" aria-label="Filters">
        <Field
          label="Status"
          value={filters["status"] ?? ""}
          set={set("status")}
          choices={[["", "any"], "pending", "success", "failed"]}
        />
        <Late label="Connection ID" value={filters["connection_id"] ?? ""} set={set("connection_id")} />
      </div>
      <Load answer={answer}>
        {({ exports, next }) => (
          <>
            {exports.length === 0 && isFiltered ? (
              <Empty title="No exports match these filters.">
                <LinkButton href={link("exports")}>Show all</LinkButton>
              </Empty>
            ) : (
              <ExportList
                exports={exports}
                none="No exports yet. To request an export, use the code on the overview page."
              />
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
      head={["Export", "Status", "Connection", "Requested", "Finished"]}
      rows={exports}
      keyOf={(one) => one.task_id}
      cells={(one) => [
        <a href={link("exports", one.task_id)}>
          <Id of={one.task_id} />
        </a>,
        <Badge of={one.status} />,
        <a href={link("connections", one.org_connection_id)}>
          <Id of={one.org_connection_id.slice(0, 8)} />
        </a>,
        <Time at={one.created_at} />,
        <Time at={one.finished_at} />,
      ]}
    />
  );
}

export function Export({ id }: { id: string }): JSX.Element {
  const { base, link } = useHere();
  const path = `${base}/exports/${encodeURIComponent(id)}`;
  const answer = useQuery<ExportDetail>(path, {}, ({ status }) => status === "pending");
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
      {data.event_id && (
        <LinkButton href={link("deliveries", "", { event_id: data.event_id })}>View deliveries</LinkButton>
      )}
      <Button onClick={reload}>Refresh</Button>
    </>
  );
  return (
    <>
      <Panel title="Status" actions={actions}>
        <Facts
          of={[
            ["Status", <Badge of={data.status} />],
            ["ID", <Id of={data.task_id} />],
            [
              "Connection",
              <a href={link("connections", data.org_connection_id)}>
                <Id of={data.org_connection_id} />
              </a>,
            ],
            ["Requested", <Time at={data.created_at} exact />],
            data.finished_at ? ["Finished", <Time at={data.finished_at} exact />] : undefined,
            data.status === "success" && data.files_until
              ? ["Files available until", <Time at={data.files_until} exact />]
              : undefined,
            data.scope?.asked ? ["Requested scope", <span class="break">{data.scope.asked}</span>] : undefined,
            data.scope?.granted ? ["Granted scope", <span class="break">{data.scope.granted}</span>] : undefined,
            progress.resources > 0 && [
              "Collected",
              `${counted(progress.resources)} resources, ${bytes(progress.bytes)}`,
            ],
          ]}
        />
        {data.status === "pending" && progress.queries_planned > 0 && (
          <p class="row">
            <progress max={progress.queries_planned} value={progress.queries_done} aria-label="Completed queries" />
            <span class="soft">
              {progress.queries_done} of {progress.queries_planned} queries completed. More queries may follow.
            </span>
          </p>
        )}
        {data.failure_reason && (
          <Notice tone="bad">
            <p>
              {FAILURES[data.failure_reason] ?? data.failure_reason} <code>{data.failure_reason}</code>
            </p>
          </Notice>
        )}
        {data.suggested_action && (
          <Notice>
            <p>
              <strong>What to do:</strong> {data.suggested_action}
            </p>
          </Notice>
        )}
      </Panel>
      <Outcome outcome={data.outcome} status={data.status} />
      {data.files.length > 0 && <Files files={data.files} />}
      {data.deliveries.length > 0 && <Told deliveries={data.deliveries} />}
    </>
  );
}

/** Collected and missing data by type. Incomplete types come first. */
function Outcome({ outcome, status }: { outcome: TypeOutcome[]; status: string }): JSX.Element | null {
  if (outcome.length === 0)
    return status === "pending" ? null : (
      <Panel title="Collected data">
        <p class="soft">No data was collected.</p>
      </Panel>
    );
  const rows = outcome
    .filter(hasNews)
    .sort((a, b) => Number(isLoss(b)) - Number(isLoss(a)) || b.count - a.count || a.type.localeCompare(b.type));
  const lost = rows.filter(isLoss).length;
  return (
    <Panel
      title="Collected data"
      lead={
        lost === 0
          ? "The record contains all data that the patient allowed and the portal supports."
          : `Data is incomplete for ${lost} of ${outcome.length} resource types.`
      }
    >
      <Table
        label="Resource types"
        head={["Type", "Collected", "Count", "Missing", "Reason"]}
        rows={rows}
        keyOf={({ type }) => type}
        cells={(one) => [
          <>
            {one.type} <Badge of={one.result} />
          </>,
          <Share count={one.count} missing={one.missing ?? 0} />,
          counted(one.count),
          one.missing ? counted(one.missing) : isLoss(one) ? "some" : <span class="soft none">–</span>,
          why(one) || <span class="soft none">–</span>,
        ]}
      />
      {QUIET.map(([says, has]) => {
        const types = outcome
          .filter((one) => !hasNews(one) && has(one))
          .map(({ type }) => type)
          .sort();
        return (
          types.length > 0 && (
            <details key={says}>
              <summary>
                <span>
                  {says} <span class="soft">{types.length}</span>
                </span>
              </summary>
              <p class="soft">{types.join(", ")}</p>
            </details>
          )
        );
      })}
    </Panel>
  );
}

const KINDS = {
  jsonl: "FHIR JSON Lines",
  jsonl_gz: "FHIR JSON Lines (gzip)",
  fhir_bundle: "FHIR bundle",
  outcome: "Missing data, with reasons",
} as const;

function Files({ files }: { files: FileSummary[] }): JSX.Element {
  return (
    <Panel title="Files" lead="We sent the download links to your webhook.">
      <Table
        label="Files"
        head={["File", "Contents", "Size", "SHA-256"]}
        rows={files}
        keyOf={({ file_name: name }) => name}
        cells={(one) => [
          <span class="break">{one.file_name}</span>,
          KINDS[one.export_type],
          bytes(one.bytes),
          <Id of={one.sha256} />,
        ]}
      />
    </Panel>
  );
}

/** Deliveries of the event that reports the end of the export. */
function Told({ deliveries }: Pick<ExportDetail, "deliveries">): JSX.Element {
  const { base, link } = useHere();
  const webhooks = useQuery<Listed<"webhooks", Webhook>>(`${base}/webhooks`).data?.webhooks ?? [];
  return (
    <Panel title="Deliveries">
      <Table
        label="Deliveries"
        head={["Webhook", "Delivery"]}
        rows={deliveries}
        keyOf={({ delivery_id: id }) => id}
        cells={(one) => {
          const webhook = webhooks.find(({ webhook_id: id }) => id === one.webhook_id);
          return [
            <a class="break" href={link("deliveries", one.delivery_id)}>
              {webhook ? webhook.note || webhook.url : one.webhook_id}
            </a>,
            <Badge of={one.status} />,
          ];
        }}
      />
    </Panel>
  );
}
