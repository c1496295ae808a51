/** Usage by month as charts, a table and a CSV file. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Overview, UsedMonth } from "../api/records.ts";
import { useAction, useHere, useQuery } from "../app/app.ts";
import { Button, Empty, Field, Load, Panel, Title, Trouble } from "../parts/controls.tsx";
import { Bars } from "../parts/chart.tsx";
import { Facts, Table } from "../parts/show.tsx";

/** Returns the month that is the given number of months before the current month. */
export const monthBefore = (count: number, now = new Date()): string =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count, 1)).toISOString().slice(0, 7);

const name = new Intl.DateTimeFormat("en", { month: "short", year: "2-digit", timeZone: "UTC" });
const label = (month: string): string => name.format(new Date(`${month}-01T00:00:00Z`));

export function Usage(): JSX.Element {
  const { base, api } = useHere();
  const [back, setBack] = useState("5");
  const query = { from: monthBefore(Number(back)), to: monthBefore(0) };
  const answer = useQuery<{ months: UsedMonth[] }>(`${base}/usage`, query);
  const action = useAction();
  const save = (): void =>
    action.run(async () => {
      const { csv } = await api.get<{ csv: string }>(`${base}/usage`, { ...query, format: "csv" });
      download(new Blob([csv], { type: "text/csv" }), `usage-${query.from}-${query.to}.csv`);
    });
  return (
    <>
      <Title
        lead="Usage is counted per day, in UTC. Today’s count will be final after midnight UTC."
        actions={
          <Button busy={action.busy} onClick={save}>
            Download CSV
          </Button>
        }
      >
        Usage
      </Title>
      <Trouble failure={action.failure} />
      <div class="filters">
        <Field
          label="Period"
          value={back}
          set={setBack}
          choices={[
            ["5", "Last 6 months"],
            ["11", "Last 12 months"],
            ["23", "Last 24 months"],
          ]}
        />
      </div>
      <Limits />
      <Load answer={answer}>
        {({ months }) =>
          months.length === 0 ? <Empty title="No usage in this period." /> : <Figures months={months} />
        }
      </Load>
    </>
  );
}

const LIMITS = { concurrent_exports: "Exports running now", webhooks: "Webhooks" } as const;

function Limits(): JSX.Element | null {
  const { base } = useHere();
  const limits = useQuery<Overview>(`${base}/overview`).data?.limits;
  if (limits === undefined) return null;
  return (
    <Panel title="Limits" lead="Exports over the limit wait and start automatically.">
      <Facts of={limits.map(({ name, used, limit }) => [LIMITS[name], `${used} of ${limit}`])} />
    </Panel>
  );
}

function Figures({ months }: { months: UsedMonth[] }): JSX.Element {
  const labels = months.map(({ month }) => label(month));
  return (
    <>
      <div class="two">
        <Panel title="Connections">
          <Bars
            title="Connected patients"
            labels={labels}
            series={[{ name: "connected", tone: "accent", values: months.map((one) => one.connections) }]}
          />
        </Panel>
        <Panel title="Exports">
          <Bars
            title="Requested records"
            labels={labels}
            series={[
              { name: "succeeded", tone: "accent", values: months.map((one) => one.exports_succeeded) },
              { name: "failed", tone: "bad", values: months.map((one) => one.exports_failed) },
            ]}
          />
        </Panel>
      </div>
      <Table
        label="Usage by month"
        head={["Month", "Connections", "Declined", "Ended", "Exports", "Failed exports", "Deliveries", "Requests"]}
        rows={[...months].reverse()}
        keyOf={({ month }) => month}
        cells={(one) => [
          label(one.month),
          one.connections,
          one.rejections,
          one.revocations,
          one.exports_succeeded,
          one.exports_failed,
          one.deliveries,
          one.inquiries,
        ]}
      />
    </>
  );
}

/** Saves a file without sending a request to a server. */
export function download(file: Blob, called: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = called;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
