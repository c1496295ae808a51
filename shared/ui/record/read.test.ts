import assert from "node:assert/strict";
import { test } from "node:test";
import { read } from "./read.ts";

const reading = (text: string) => read(text, new AbortController().signal);

test("lines that are not resources are counted, and blank lines are not", async () => {
  const lines = ['{"resourceType":"Patient"}', "", "{oops", '"text"', "[]", "null", '{"resourceType":7}', " \r"];
  const { resources, broken } = await reading(lines.join("\n"));
  assert.deepEqual(
    resources.map(({ resourceType }) => resourceType),
    ["Patient"],
  );
  assert.deepEqual(broken, [3, 4, 5, 6, 7]);
});

test("a Bundle's resources are read, also from formatted JSON", async () => {
  const bundle = {
    resourceType: "Bundle",
    entry: [null, { fullUrl: "urn:uuid:1", resource: { resourceType: "Patient" } }, { fullUrl: "urn:uuid:2" }],
  };
  for (const text of [JSON.stringify(bundle), JSON.stringify(bundle, null, 2)]) {
    const { resources, aliases, broken } = await reading(text);
    assert.equal(resources.length, 1);
    assert.equal(aliases.get("urn:uuid:1"), resources[0]);
    assert.deepEqual(broken, []);
  }
});

test("reading stops when the signal is aborted", async () => {
  const abort = new AbortController();
  const text = '{"resourceType":"Observation"}\n'.repeat(200_000);
  await assert.rejects(
    read(text, abort.signal, () => abort.abort(new Error("stopped"))),
    /stopped/,
  );
});
