import assert from "node:assert/strict";
import { createHash, createHmac, generateKeyPairSync, type KeyObject, sign as signBytes } from "node:crypto";
import { test, type TestContext } from "node:test";
import { FileMismatch, InvalidManifest, type Recordbridge, verifyManifest } from "../src/index.js";
import { all, clientOf, json, serve } from "./server.js";

type Members = Record<string, unknown>;

const service = generateKeyPairSync("ec", { namedCurve: "P-384" });
const attacker = generateKeyPairSync("ec", { namedCurve: "P-384" });
const header = { alg: "ES384", kid: "k1", typ: "recordbridge-manifest+jws" };
const text = [1, 2, 3].map((id) => `{"resourceType":"Patient","id":"${id}"}\n`).join("");

const keySetOf = ({ publicKey }: { publicKey: KeyObject }) => ({
  keys: [{ ...publicKey.export({ format: "jwk" }), kid: "k1", use: "sig", alg: "ES384" }],
});
const encode = (value: Members | Uint8Array): string =>
  Buffer.from(value instanceof Uint8Array ? value : JSON.stringify(value)).toString("base64url");

/** Returns a detached signature, which is correct even if no service would sign such a header. */
function sign(content: Uint8Array, changes: Members = {}, { privateKey: key } = service): string {
  const first = encode({ ...header, ...changes });
  const signed = Buffer.from(`${first}.${encode(content)}`);
  return `${first}..${encode(signBytes("sha384", signed, { key, dsaEncoding: "ieee-p1363" }))}`;
}

/** Returns the manifest of the text with changes. */
function manifestOf(changes: Members = {}): Buffer {
  const sha256 = createHash("sha256").update(text).digest("hex");
  const file = { name: "t.jsonl", content_type: "application/fhir+ndjson", bytes: text.length, sha256, resources: 3 };
  return Buffer.from(JSON.stringify({
    version: 1, task_id: "t", mode: "test", files: [file], counts: { Patient: 3 }, complete: false,
    missing: { Claim: "refused" }, ...changes,
  }));
}

const content = manifestOf();
const valid = sign(content);

test("a signed manifest is returned", async () => {
  const { files, missing } = await verifyManifest(content, `${valid}\n`, keySetOf(service));
  assert.deepEqual([files[0]?.resources, missing], [3, { Claim: "refused" }]);
});

test("forged signatures are rejected", async () => {
  const [first, second] = valid.split("..");
  const hmac = encode({ ...header, alg: "HS384" });
  const secret = JSON.stringify(keySetOf(service));
  const mac = createHmac("sha384", secret).update(`${hmac}.${encode(content)}`).digest("base64url");
  const signatures = {
    "other key": sign(content, {}, attacker),
    "other bytes": sign(Buffer.concat([content, Buffer.from("\n")])),
    "unknown kid": sign(content, { kid: "k2" }),
    "no kid": sign(content, { kid: undefined }),
    "other type": sign(content, { typ: "JWT" }),
    "no type": sign(content, { typ: undefined }),
    "other algorithm": sign(content, { alg: "ES256" }),
    "key in header": sign(content, { jwk: keySetOf(attacker).keys[0] }, attacker),
    "URL in header": sign(content, { jku: "https://example.com/keys" }),
    "critical member": sign(content, { crit: ["exp"], exp: 1 }),
    "unencoded content": sign(content, { crit: ["b64"], b64: false }),
    "attached content": `${first}.${encode(content)}.${second}`,
    "no signature": `${first}..`,
    "no header": `..${second}`,
    "header of other kind": `${encode(Buffer.from("null"))}..${second}`,
    "nothing": "",
    "algorithm none": `${encode({ ...header, alg: "none" })}..`,
    "public key as HMAC": `${hmac}..${mac}`,
  };
  for (const [name, signature] of Object.entries(signatures)) {
    await assert.rejects(verifyManifest(content, signature, keySetOf(service)), InvalidManifest, name);
  }
});

test("a malformed key set is rejected", async () => {
  const [key] = keySetOf(service).keys;
  for (const keySet of [{ keys: [] }, {}, null, { keys: [key, key] }, { keys: [{ kid: "k1" }] }]) {
    await assert.rejects(verifyManifest(content, valid, keySet as never), InvalidManifest, JSON.stringify(keySet));
  }
});

test("signed content that can't be read is rejected", async () => {
  for (const signed of [Buffer.from("x"), manifestOf({ version: 2 }), manifestOf({ files: [{ name: "t.jsonl" }] })]) {
    await assert.rejects(verifyManifest(signed, sign(signed), keySetOf(service)), InvalidManifest, signed.toString());
  }
});

/** Returns a client of a service with one export. */
async function exported(t: TestContext, changes: Members = {}): Promise<Recordbridge> {
  const keySet = JSON.stringify(keySetOf(service));
  const own = { manifest: content, signature: valid, keySet, file: text, ...changes };
  const links = (changes.links as string[] | undefined) ?? ["jsonl"];
  const base = await serve(t, ({ headers, url = "" }, response) => {
    assert.equal(headers.authorization !== undefined, url.startsWith("/bridge/"));
    if (url === "/.well-known/manifest-jwks.json") return void response.end(own.keySet);
    if (url === "/manifest.json") return void response.end(own.manifest);
    if (url === "/t.jsonl") return void response.end(own.file);
    const data = {
      task_id: "t", status: "success",
      download_links: links.map((kind) => ({ url: `${base}/t.${kind}`, export_type: kind })),
      files: links.map((kind) => ({ file_name: `t.${kind}`, export_type: kind, sha256: "unsigned", bytes: 1 })),
      ...(own.signature ? { manifest: { url: `${base}/manifest.json`, signature: own.signature } } : {}),
    };
    json(response, 200, { success: true, data });
  });
  return clientOf(base).client;
}

test("the client returns the verified manifest and the files that match it", async (t) => {
  const client = await exported(t);
  assert.deepEqual((await client.manifest("t")).counts, { Patient: 3 });
  const [file] = await client.verifiedFiles("t");
  assert.equal((await all(client.resources(file!))).length, 3);
});

test("a file that differs from the manifest is rejected", async (t) => {
  const [listed] = (JSON.parse(content.toString()) as { files: { bytes: number }[] }).files;
  const signed = (manifest: Buffer): Members => ({ manifest, signature: sign(manifest) });
  const cases = {
    "altered file": { file: text.replace("1", "4") },
    "truncated file": { file: text.slice(0, 37) },
    "longer file": { file: text + text },
    "other size": signed(manifestOf({ files: [{ ...listed, bytes: text.length + 1 }] })),
    "other number of resources": signed(manifestOf({ files: [{ ...listed, resources: 4 }] })),
  };
  for (const [name, changes] of Object.entries(cases)) {
    const client = await exported(t, changes);
    const [file] = await client.verifiedFiles("t");
    await assert.rejects(all(client.resources(file!)), FileMismatch, name);
  }
});

test("a manifest that doesn't fit the export is rejected", async (t) => {
  const other = manifestOf({ task_id: "u" });
  const cases = {
    "no manifest": { signature: "" },
    "altered manifest": { manifest: Buffer.concat([content, Buffer.from("\n")]) },
    "huge manifest": { manifest: Buffer.alloc((1 << 20) + 1) },
    "other keys": { keySet: JSON.stringify(keySetOf(attacker)) },
    "key set that isn't JSON": { keySet: "<html>" },
    "missing link": { links: [] },
    "unlisted link": { links: ["jsonl", "jsonl_gz"] },
    "other export": { manifest: other, signature: sign(other) },
  };
  for (const [name, changes] of Object.entries(cases)) {
    await assert.rejects((await exported(t, changes)).verifiedFiles("t"), InvalidManifest, name);
  }
});
