/** Runs layers.mjs on small source trees that violate its rules. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";

const compilerOptions = {
  ...{ target: "es2022", lib: ["es2022"], types: [] },
  ...{ module: "esnext", moduleResolution: "bundler", allowImportingTsExtensions: true },
};

/** Runs the check on a tree of the given files, and returns the check's output as lines. */
function mistakesIn(t: TestContext, files: Record<string, string>): string[] {
  const folder = mkdtempSync(join(tmpdir(), "ui-layers-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const tree = { ...files, "tsconfig.json": JSON.stringify({ compilerOptions }) };
  for (const [path, content] of Object.entries(tree)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const { status, stderr } = spawnSync(process.execPath, ["layers.mjs", folder], { encoding: "utf8" });
  assert.equal(status, stderr === "" ? 0 : 1, stderr);
  return stderr.split("\n").filter((line) => line !== "");
}

test("the layer check accepts imports from lower folders, and any import in tests", (t) => {
  const tree = {
    "kit/colour.ts": "export const colour = 1;",
    "embed/api/api.ts": 'export { colour } from "../../kit/colour.ts";',
    "kit/colour.test.ts": 'import "../embed/api/api.ts";',
  };
  assert.deepEqual(mistakesIn(t, tree), []);
});

test("the layer check rejects a cycle of type imports", (t) => {
  const tree = {
    "kit/a.ts": 'import type { B } from "./b.ts";\nexport interface A { b: B }',
    "kit/b.ts": 'import type { C } from "./c.ts";\nexport interface B { c: C }',
    "kit/c.ts": 'import type { A } from "./a.ts";\nexport interface C { a: A }',
  };
  assert.deepEqual(mistakesIn(t, tree), ["import circle: kit/a.ts → kit/b.ts → kit/c.ts → kit/a.ts"]);
});

test("the layer check rejects a cycle through a lazy import", (t) => {
  const tree = {
    "embed/main.ts": 'export const load = () => import("./later.ts");',
    "embed/later.ts": 'import "./main.ts";\nexport const later = 1;',
  };
  assert.deepEqual(mistakesIn(t, tree), ["import circle: embed/later.ts → embed/main.ts → embed/later.ts"]);
});

test("the layer check rejects imports from higher folders and between applications", (t) => {
  const tree = {
    "kit/colour.ts": 'import type { Mode } from "../embed/mode.ts";\nexport type Colour = Mode;',
    "embed/mode.ts": 'import { api } from "../dashboard/api/api.ts";\nexport type Mode = typeof api;',
    "dashboard/api/api.ts": "export const api = 1;",
  };
  assert.deepEqual(mistakesIn(t, tree).sort(), [
    "embed/mode.ts imports dashboard/api/api.ts: embed may not import dashboard/api",
    "kit/colour.ts imports embed/mode.ts: kit may not import embed",
  ]);
});

test("the layer check rejects unknown folders, imports of tests and an empty tree", (t) => {
  const elsewhere = { "kit/a.ts": 'import "../elsewhere/b.ts";', "elsewhere/b.ts": "export {};" };
  const unknown = "kit/a.ts imports elsewhere/b.ts: elsewhere is not in the order of layers.mjs";
  assert.deepEqual(mistakesIn(t, elsewhere), [unknown]);
  const tested = { "kit/a.ts": 'import "./b.test.ts";', "kit/b.test.ts": "export {};" };
  assert.deepEqual(mistakesIn(t, tested), ["kit/a.ts imports kit/b.test.ts, a test"]);
  assert.match(mistakesIn(t, { "kit/a.ts": "export {};" }).join("\n"), /printed no import/);
});
