import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { FileMismatch, type Progress } from "../src/index.js";
import { all, clientOf, json, serve } from "./server.js";

const text = `${[1, 2, 3].map((id) => JSON.stringify({ resourceType: "Patient", id: `${id}`, note: "ñ→" })).join("\n")}\n`;
const bytes = Buffer.from(text);
const sha256 = createHash("sha256").update(bytes).digest("hex");

test("a download is resumed after the last byte after the connection breaks", async (t) => {
  const ranges: (string | undefined)[] = [];
  const base = await serve(t, ({ headers, url, socket }, response, count) => {
    if (url === "/link") return void response.writeHead(302, { location: `/file${count}` }).end();
    ranges.push(headers.range);
    const from = Number(headers.range?.match(/^bytes=(\d+)-$/)?.[1] ?? 0);
    const range = from > 0 ? { "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {};
    response.writeHead(from > 0 ? 206 : 200, { "content-length": bytes.length - from, ...range });
    const part = bytes.subarray(from, from + 50); // the cuts split lines and characters
    response.write(part, () => (from + 50 >= bytes.length ? response.end() : socket.destroy()));
  });
  const seen: Progress[] = [];
  const { client } = clientOf(base);
  const file = { url: `${base}/link`, sha256, bytes: bytes.length };
  const found = await all(client.resources(file, { onProgress: (progress) => seen.push(progress) }));
  assert.deepEqual(found.map(({ id, note }) => [id, note]), [["1", "ñ→"], ["2", "ñ→"], ["3", "ñ→"]]);
  assert.equal(bytes.length, 153);
  assert.deepEqual(ranges, [undefined, "bytes=50-", "bytes=100-", "bytes=150-"]);
  assert.deepEqual(seen.at(-1), { read: bytes.length, total: bytes.length });
});

test("another range is not appended", async (t) => {
  const base = await serve(t, ({ socket }, response, count) => {
    const range = count > 0 ? { "content-range": `bytes 0-${bytes.length - 1}/${bytes.length}` } : {};
    response.writeHead(count > 0 ? 206 : 200, { "content-length": bytes.length, ...range });
    response.write(bytes.subarray(0, 50), () => socket.destroy());
  });
  await assert.rejects(all(clientOf(base).client.download({ url: base })), /can't be resumed at byte 50/);
});

test("another digest throws after the last resource", async (t) => {
  const base = await serve(t, (_, response) => response.end(text));
  const found: unknown[] = [];
  await assert.rejects(async () => {
    for await (const one of clientOf(base).client.resources({ url: base, sha256: "0".repeat(64) })) found.push(one);
  }, FileMismatch);
  assert.equal(found.length, 3);
});

test("a busy server gets five requests, after the requested times", async (t) => {
  let count = 0;
  const base = await serve(t, (_, response) => {
    count++;
    json(response, 503, { error: "svc_unavailable", error_description: "Busy." }, { "retry-after": "2" });
  });
  const { client, pauses } = clientOf(base);
  await assert.rejects(all(client.download({ url: base })), { code: "svc_unavailable", status: 503 });
  assert.deepEqual([count, pauses], [5, [2000, 2000, 2000, 2000]]);
});

test("a download ends at once if the requested pause is too long", async (t) => {
  const base = await serve(t, (_, response) => json(response, 503, {}, { "retry-after": "121" }));
  const { client, pauses } = clientOf(base);
  await assert.rejects(all(client.download({ url: base })), { status: 503 });
  assert.deepEqual(pauses, []);
});

test("an expired link throws the API's error at once", async (t) => {
  const body = { error: "svc_export_expired", error_description: "The files of this export have been deleted." };
  const base = await serve(t, (_, response) => json(response, 410, body));
  const { client, pauses } = clientOf(base);
  await assert.rejects(all(client.download({ url: base })), { code: "svc_export_expired", status: 410 });
  assert.deepEqual(pauses, []);
});

test("the files of an export have the digest of their format", async (t) => {
  const result = {
    task_id: "t", status: "success",
    download_links: [{ url: "u1", export_type: "jsonl" }, { url: "u2", export_type: "fhir_bundle" }],
    files: [{ file_name: "b", export_type: "fhir_bundle", bytes: 2, sha256: "b" }, { file_name: "a", export_type: "jsonl", bytes: 1, sha256: "a" }],
  };
  const base = await serve(t, (_, response) => json(response, 200, { success: true, data: result }));
  assert.deepEqual(await clientOf(base).client.files("t"), [
    { url: "u1", exportType: "jsonl", name: "a", sha256: "a", bytes: 1 },
    { url: "u2", exportType: "fhir_bundle", name: "b", sha256: "b", bytes: 2 },
  ]);
});
