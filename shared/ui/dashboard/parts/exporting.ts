/** Reads a filtered list to its end, and writes it as CSV or NDJSON. */
import type { Listed } from "../api/records.ts";

export type Format = "csv" | "ndjson";

/** The maximum number of pages in an export, which stays below the API's rate limit. A page has up to 50 rows. */
export const MOST_PAGES = 200;

type Row<Column extends string> = { [name in Column]?: string | number };

/** Reads up to MOST_PAGES pages of a list. The result reports whether rows are missing. */
export async function readAll<Name extends string, T>(
  name: Name,
  page: (cursor: string) => Promise<Listed<Name, T>>,
): Promise<{ rows: T[]; isCut: boolean }> {
  const rows: T[] = [];
  let cursor: string | undefined = "";
  for (let count = 0; count < MOST_PAGES && cursor !== undefined; count++) {
    const read: Listed<Name, T> = await page(cursor);
    rows.push(...read[name]);
    cursor = read.next;
  }
  return { rows, isCut: cursor !== undefined };
}

/** Writes the given columns of all rows. Other columns are omitted. */
export function written<Column extends string>(
  format: Format,
  columns: readonly Column[],
  rows: readonly Row<Column>[],
): string {
  if (format === "csv")
    return [columns, ...rows.map((row) => columns.map((name) => row[name]))]
      .map((cells) => `${cells.map(cell).join(",")}\r\n`)
      .join("");
  return rows
    .map((row) => `${JSON.stringify(Object.fromEntries(columns.map((name) => [name, row[name]])))}\n`)
    .join("");
}

/** Quotes a CSV cell (RFC 4180). An apostrophe keeps spreadsheets from evaluating the cell as a formula. */
function cell(value: string | number | undefined): string {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
