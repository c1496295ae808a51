import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { ASK, ask, curl, env, PAGE, page, receive } from "./snippets.ts";

const given = { base: "https://api.example/v1", publicId: "public_test_0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b" };
const scratch = mkdtempSync(join(tmpdir(), "ui-snippets-"));

test("every snippet contains real IDs but no private key", () => {
  for (const code of [...PAGE.map((dialect) => page(dialect, given)), ...ASK.map((dialect) => ask(dialect, given))]) {
    assert.ok(code.includes(given.publicId) && code.includes(given.base), code);
    assert.doesNotMatch(code, /private_(test|live)_/);
  }
});

const secret = `whsec_${Buffer.from("0123456789abcdef0123456789abcdef").toString("base64")}`;
const body = `{"type":"webhook.test","name":"ünï"}`;

function signed(at: number): Record<string, string> {
  const mac = createHmac("sha256", Buffer.from(secret.slice(6), "base64"))
    .update(`id-1.${at}.${body}`)
    .digest("base64");
  return { "webhook-id": "id-1", "webhook-timestamp": String(at), "webhook-signature": `v1,AAAA v1a,x v1,${mac}` };
}

const now = Math.floor(Date.now() / 1000);
const cases: [Record<string, string>, string, boolean][] = [
  [signed(now), body, true],
  [signed(now), `${body} `, false],
  [signed(now - 400), body, false],
  [{ ...signed(now), "webhook-id": "id-2" }, body, false],
  [{ ...signed(now), "webhook-timestamp": "soon" }, body, false],
];

test("the Node receiver accepts only valid signatures", async () => {
  const file = join(scratch, "receiver.mjs");
  writeFileSync(file, receive("Node"));
  const { verifyWebhook } = (await import(file)) as {
    verifyWebhook: (headers: object, body: Buffer, secret: string) => boolean;
  };
  for (const [headers, sent, want] of cases) assert.equal(verifyWebhook(headers, Buffer.from(sent), secret), want);
});

test("the Python receiver accepts only valid signatures", () => {
  const judge = `${receive("Python")}\nimport json, sys\nprint(json.dumps([verify_webhook(h, b.encode(), "${secret}") for h, b, _ in json.load(sys.stdin)]))`;
  const said = execFileSync("python3", ["-c", judge], { input: JSON.stringify(cases), encoding: "utf8" });
  assert.deepEqual(
    JSON.parse(said),
    cases.map(([, , want]) => want),
  );
});

test("the curl snippet quotes a delivery attempt as one shell command", () => {
  const text = curl(
    "https://a.example/hook?x='$(id)'",
    { "Webhook-Id": "it's", "Content-Length": "7", Host: "a.example" },
    `{"a":"'; rm -rf / #"}`,
  );
  const said = execFileSync("sh", ["-c", `curl() { printf '%s\\n' "$@"; }\n${text}`], { encoding: "utf8" });
  assert.deepEqual(said.trim().split("\n"), [
    "https://a.example/hook?x='$(id)'",
    "--header",
    "Webhook-Id: it's",
    "--data-raw",
    `{"a":"'; rm -rf / #"}`,
  ]);
});

test("the .env snippet has one line per value", () => {
  assert.equal(env(given.base, given.publicId, "private_test_x").split("\n").length, 4);
});
