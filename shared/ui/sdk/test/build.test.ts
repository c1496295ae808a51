/** What the build makes, its budgets, and what the npm package would hold. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

/** Budgets in bytes, compressed. Every page of every customer pays the first; a patient on a phone's network the second. */
const ELEMENTS = 5_000;
const APPLICATION = 30_000;

const scratch = mkdtempSync(join(tmpdir(), "ui-package-"));
after(() => rmSync(scratch, { recursive: true }));

interface Manifest {
  version: string;
  files: Record<string, { path: string; size: number; gzip: number; integrity: string; type: string }>;
  pages: Record<string, { path: string; style_hash: string }>;
}

function build(name: string): { folder: string; manifest: Manifest } {
  const folder = join(scratch, name);
  execFileSync(process.execPath, ["build.mjs", folder], { stdio: ["ignore", "ignore", "pipe"] });
  return { folder, manifest: JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Manifest };
}

const { folder, manifest } = build("one");

const weight = (...names: string[]): number => names.reduce((sum, name) => sum + (manifest.files[name]?.gzip ?? Infinity), 0);

test("the elements and the application stay within their budgets", () => {
  assert(weight("sdk/svc-widget.js") <= ELEMENTS, `${weight("sdk/svc-widget.js")} bytes`);
  assert(weight("embed.js", "embed.css") <= APPLICATION, `${weight("embed.js", "embed.css")} bytes`);
});

test("the same input gives the same bytes", () => {
  const again = build("two").folder;
  const names = readdirSync(folder, { recursive: true }).map(String).sort();
  assert.deepEqual(readdirSync(again, { recursive: true }).map(String).sort(), names);
  for (const name of names.filter((path) => statSync(join(folder, path)).isFile())) {
    assert.deepEqual(readFileSync(join(again, name)), readFileSync(join(folder, name)), name);
  }
});

test("the manifest tells the truth of each file and page", () => {
  for (const [name, { path, size, gzip, integrity, type }] of Object.entries(manifest.files)) {
    const bytes = readFileSync(join(folder, path));
    assert.equal(bytes.length, size, name);
    assert.equal(statSync(join(folder, `${path}.gz`)).size, gzip, name);
    assert.deepEqual(gunzipSync(readFileSync(join(folder, `${path}.gz`))), bytes, name);
    assert.deepEqual(brotliDecompressSync(readFileSync(join(folder, `${path}.br`))), bytes, name);
    assert.equal(integrity, `sha384-${createHash("sha384").update(bytes).digest("base64")}`, name);
    assert.match(type, /^text\/(javascript|css); charset=utf-8$/, name);
    assert.match(path, name.startsWith("sdk/") ? new RegExp(`^sdk/${manifest.version}/`) : /^widget\/assets\/.+-[A-Z0-9]{8}\.(js|css)$/, name);
  }
  for (const [name, { path, style_hash: hash }] of Object.entries(manifest.pages)) {
    const style = /<style>([\s\S]*?)<\/style>/.exec(readFileSync(join(folder, path), "utf8"))?.[1] ?? "";
    assert.equal(hash, `sha256-${createHash("sha256").update(style).digest("base64")}`, name);
  }
});

test("the script needs nothing beside it, and can be imported where there is no DOM", async () => {
  const script = join(folder, manifest.files["sdk/svc-widget.js"]?.path ?? "");
  assert.doesNotMatch(readFileSync(script, "utf8"), /\bimport\s*[("{*]|\beval\b|innerHTML|localStorage|sessionStorage|document\.cookie/);
  const module = (await import(pathToFileURL(script).href)) as object;
  assert.deepEqual(Object.keys(module).sort(), ["SvcWidget", "SvcWidgetElement"]);
});

test("the package holds what it exports, and the compiler takes a customer's code", () => {
  const modules = join(scratch, "customer/node_modules");
  const own = join(modules, "svc-widget");
  mkdirSync(modules, { recursive: true });
  execFileSync(process.execPath, ["sdk/pack.mjs", folder, own]);
  const { exports, private: isPrivate } = JSON.parse(readFileSync(join(own, "package.json"), "utf8")) as { exports: Record<string, string | Record<string, string>>; private: boolean };
  for (const path of Object.values(exports).flatMap((target) => (typeof target === "string" ? [target] : Object.values(target)))) assert(existsSync(join(own, path)), path);
  assert(isPrivate);
  assert(readFileSync(join(own, "react.js"), "utf8").trim().split("\n").length <= 30);

  for (const name of ["@types", "csstype"]) symlinkSync(join(process.cwd(), "node_modules", name), join(modules, name));
  cpSync("sdk/test/consumer.tsx", join(scratch, "customer/consumer.tsx"));
  const compilerOptions = { target: "es2022", module: "esnext", moduleResolution: "bundler", jsx: "react-jsx", strict: true, noEmit: true, types: [], allowImportingTsExtensions: true };
  writeFileSync(join(scratch, "customer/tsconfig.json"), JSON.stringify({ compilerOptions, files: ["consumer.tsx"] }));
  execFileSync("node_modules/.bin/tsc", ["-p", join(scratch, "customer")], { stdio: "inherit" });
});
