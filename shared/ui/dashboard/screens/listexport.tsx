/** Buttons that export a filtered list. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Listed } from "../api/records.ts";
import { useAction, useHere } from "../app/app.ts";
import { Button, Notice, Trouble } from "../parts/controls.tsx";
import { type Format, readAll, written } from "../parts/exporting.ts";
import { counted } from "../parts/show.tsx";
import { download } from "./usage.tsx";

/** Exports the columns of all rows that match the query. The cursor of the shown page is ignored. */
export function ListExport<Name extends string>({
  name,
  query,
  columns,
}: {
  name: Name;
  query: Record<string, string | undefined>;
  columns: readonly string[];
}): JSX.Element {
  const { api, base, org } = useHere();
  const action = useAction();
  const [cut, setCut] = useState(0);
  const save = (format: Format): void =>
    action.run(async () => {
      setCut(0);
      const { rows, isCut } = await readAll(name, (cursor) =>
        api.get<Listed<Name, Record<string, string | number>>>(`${base}/${name}`, { ...query, cursor }),
      );
      const type = format === "csv" ? "text/csv" : "application/x-ndjson";
      download(new Blob([written(format, columns, rows)], { type }), `${name}-${org.id}.${format}`);
      if (isCut) setCut(rows.length);
    });
  return (
    <>
      <div class="row">
        <Button busy={action.busy} onClick={() => save("csv")}>
          Export CSV
        </Button>
        <Button busy={action.busy} onClick={() => save("ndjson")}>
          Export NDJSON
        </Button>
      </div>
      <Trouble failure={action.failure} />
      {cut > 0 && (
        <Notice>
          <p>The file contains the newest {counted(cut)} rows. To export older rows, choose an earlier end date.</p>
        </Notice>
      )}
    </>
  );
}
