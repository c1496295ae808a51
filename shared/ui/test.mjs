/**
 * Runs the workspace's unit tests (*.test.ts, *.test.tsx). It bundles each test and passes the bundles to Node's test
 * runner. Optional arguments are folders or files.
 */
import * as esbuild from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(fileURLToPath(import.meta.url));
const wanted = process.argv.slice(2).map((path) => path.replace(/\/$/, ""));
const tests = ["sdk", "embed", "kit", "demo", "record", "dashboard", "."]
  .flatMap(testsIn)
  .filter((path) => wanted.length === 0 || wanted.some((prefix) => path.startsWith(prefix)));
const out = mkdtempSync(join(tmpdir(), "ui-test-"));
try {
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: tests,
    outdir: out,
    outbase: root,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    jsx: "automatic",
    jsxImportSource: "preact",
    loader: { ".css": "text" },
    sourcemap: "inline",
    logLevel: "warning",
  });
  const bundles = tests.map((path) => join(out, path.replace(/\.tsx?$/, ".mjs")));
  const run = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...bundles], {
    stdio: "inherit",
    cwd: root,
  });
  process.exitCode = run.status ?? 1;
} finally {
  rmSync(out, { recursive: true, force: true });
}

function testsIn(folder) {
  let names = [];
  try {
    names = readdirSync(join(root, folder), { recursive: folder !== "." });
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
  return names.map((name) => join(folder, String(name))).filter((path) => /\.test\.tsx?$/.test(path));
}
