import assert from "node:assert/strict";
import { test } from "node:test";
import { MOST_PAGES, readAll, written } from "./exporting.ts";

const columns = ["id", "note", "count"] as const;

test("CSV quotes cells and disarms formulas", () => {
  const rows = [
    { id: "1", note: 'a "b", c\nd', count: -2 },
    ...["=1+1", "+1", "-1", "@a", "\tx", "\rx", "a=1"].map((note) => ({ id: "2", note })),
  ];
  assert.equal(
    written("csv", columns, rows),
    [
      "id,note,count",
      '1,"a ""b"", c\nd",-2',
      "2,'=1+1,",
      "2,'+1,",
      "2,'-1,",
      "2,'@a,",
      "2,'\tx,",
      `2,"'\rx",`,
      "2,a=1,",
      "",
    ].join("\r\n"),
  );
});

test("NDJSON has one object per line, with only the given columns", () => {
  const rows = [{ id: "1", note: "a\nb", count: 2, body: "hidden" }, { id: "2" }];
  assert.equal(written("ndjson", columns, rows), '{"id":"1","note":"a\\nb","count":2}\n{"id":"2"}\n');
  assert.equal(written("ndjson", columns, []), "");
});

test("an export reads all pages, including empty ones", async () => {
  const pages = { "": { rows: [1, 2], next: "a" }, a: { rows: [], next: "b" }, b: { rows: [3] } };
  const read = await readAll("rows", (cursor) => Promise.resolve(pages[cursor as keyof typeof pages]));
  assert.deepEqual(read, { rows: [1, 2, 3], isCut: false });
});

test("an export ends after the maximum number of pages", async () => {
  let asked = 0;
  const read = await readAll("rows", () => Promise.resolve({ rows: [(asked += 1)], next: "more" }));
  assert.equal(asked, MOST_PAGES);
  assert.equal(read.rows.length, MOST_PAGES);
  assert.equal(read.isCut, true);
});
