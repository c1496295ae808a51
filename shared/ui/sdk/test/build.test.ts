/** Tests the build's output, its size budgets, and the npm package. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { words as later } from "../../kit/words/later-en.ts";

/**
 * Compressed size budgets in bytes. Every visitor of a customer's page loads the elements' script; a patient on a phone
 * loads the application.
 */
const ELEMENTS = 5_000;
const APPLICATION = 28_500;
/** The budget of the files that load after the first view, with the texts of their views. */
const REST = 7_500;
/** The budget of the TEFCA chunk, which only elements with tefca-mode load. */
const TEFCA = 9_000;
/** The budgets of the dashboard's script and style sheet. The dashboard's users return daily, on desktop computers. */
const DASHBOARD = 60_000;
/** The budget of the record viewer's script. */
const RECORD = 22_000;

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

const weight = (...names: string[]): number =>
  names.reduce((sum, name) => sum + (manifest.files[name]?.gzip ?? Infinity), 0);

test("the bundles stay within their size budgets", () => {
  assert(weight("sdk/svc-widget.js") <= ELEMENTS, `${weight("sdk/svc-widget.js")} bytes`);
  assert(weight("sdk/record-view.js") <= RECORD, `${weight("sdk/record-view.js")} bytes`);
  for (const [lang, other] of [
    ["en", "es"],
    ["es", "en"],
  ] as const) {
    const elsewhere = (name: string): boolean =>
      /^(sdk\/|demo\.|dashboard\.|tefca|rest\.|shared\.)/.test(name) ||
      [`embed.${other}.js`, `${lang}.js`, `${other}.js`].includes(name);
    const all = Object.keys(manifest.files).filter((name) => !elsewhere(name));
    assert(all.includes(`embed.${lang}.js`) && all.includes("embed.css"));
    assert(weight(...all) <= APPLICATION, `${lang}: ${weight(...all)} bytes`);
    assert(
      weight(`rest.${lang}.js`, `shared.${lang}.js`) <= REST,
      `${weight(`rest.${lang}.js`, `shared.${lang}.js`)} bytes`,
    );
    assert(weight(`tefca.${lang}.js`) <= TEFCA, `${weight(`tefca.${lang}.js`)} bytes`);
    assert(
      weight(`dashboard.${lang}.js`, "dashboard.css") <= DASHBOARD,
      `${weight(`dashboard.${lang}.js`, "dashboard.css")} bytes`,
    );
  }
});

test("a page's script contains its language and loads the other language, later views and TEFCA mode on demand", () => {
  for (const [lang, own, others] of [
    ["en", "Find your hospital", "Busque su hospital"],
    ["es", "Busque su hospital", "Find your hospital"],
  ] as const) {
    for (const page of ["embed", "connect"]) {
      const html = readFileSync(join(folder, `pages/${page}.${lang}.html`), "utf8");
      assert.match(
        html,
        new RegExp(
          `<html lang="${lang}"{{scheme}}>[^]*<style>[^]*</style>{{look}}[^]*<body class="${page === "connect" ? "page" : ""}">`,
        ),
      );
      assert.deepEqual(
        html.match(/assets\/[^"]+/g)?.map((path) => `widget/${path}`),
        [manifest.files[`embed.${lang}.js`]?.path, manifest.files["embed.css"]?.path],
      );
    }
    const script = readFileSync(join(folder, manifest.files[`embed.${lang}.js`]?.path ?? ""), "utf8");
    assert(script.includes(own) && !script.includes(others));
    assert(!/tefca_[a-z_]+:"/.test(script), "TEFCA's words are TEFCA's alone");
    const asked = [...script.matchAll(/\.(?:say|parts|count)\(((?:[^()]|\([^()]*\))*)\)/g)].flatMap(([, args = ""]) =>
      [...args.matchAll(/"(\w+)"/g)].map(([, word]) => word),
    );
    assert(asked.length > 50 && asked.includes("search_title"), `${asked.length} texts`);
    assert.deepEqual(
      asked.filter((word = "") => word in later),
      [],
      "texts that load only after the script",
    );
    const imported = [...script.matchAll(/\bimport\("\.\/([^"]+)"\)/g)].map(([, name]) => `widget/assets/${name}`);
    assert.deepEqual(
      imported.sort(),
      [lang === "en" ? "es.js" : "en.js", `rest.${lang}.js`, `tefca.${lang}.js`]
        .map((name) => manifest.files[name]?.path)
        .sort(),
    );
    assert.equal(script.match(/\bimport\b/g)?.length, 3, "and nothing before it runs");
  }
});

test("the TEFCA chunk contains only its own words and imports the rest", () => {
  for (const [lang, own, others] of [
    ["en", "one identity check", "sola verificación"],
    ["es", "sola verificación", "one identity check"],
  ] as const) {
    const script = readFileSync(join(folder, manifest.files[`tefca.${lang}.js`]?.path ?? ""), "utf8");
    assert(script.includes(own) && !script.includes(others));
    const imported = [...script.matchAll(/\bimport\b[^"]*"\.\/([^"]+)"/g)].map(([, name]) => `widget/assets/${name}`);
    const [other, words] = lang === "en" ? ["es.js", "tefca-es.js"] : ["en.js", "tefca-en.js"];
    assert.deepEqual(
      imported.sort(),
      [`embed.${lang}.js`, `shared.${lang}.js`, other, words].map((name) => manifest.files[name]?.path).sort(),
    );
  }
});

test("the build is reproducible", () => {
  const again = build("two").folder;
  const names = readdirSync(folder, { recursive: true }).map(String).sort();
  assert.deepEqual(readdirSync(again, { recursive: true }).map(String).sort(), names);
  for (const name of names.filter((path) => statSync(join(folder, path)).isFile())) {
    assert.deepEqual(readFileSync(join(again, name)), readFileSync(join(folder, name)), name);
  }
});

/** Returns the state that a write would change: the link, and each file with its times. */
function stamps(of: string): string[] {
  return [of, ...readdirSync(of, { recursive: true }).map((name) => join(of, String(name)))].map((path) => {
    const { ino, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
    return [path, ino, mtimeNs, ctimeNs].join(" ");
  });
}

test("a rebuild writes nothing if unchanged and repairs damaged output", () => {
  const again = join(scratch, "again");
  mkdirSync(again);
  writeFileSync(join(again, "left over"), ""); // as a build without links would leave
  build("again");
  const before = stamps(again);
  assert(!existsSync(join(again, "left over")));
  build("again");
  assert.deepEqual(stamps(again), before);
  writeFileSync(join(again, "pages/embed.en.html"), "half of i");
  build("again");
  assert.deepEqual(readFileSync(join(again, "pages/embed.en.html")), readFileSync(join(folder, "pages/embed.en.html")));
});

/** Replaces a folder many times in a separate process. */
const REPLACING = `import { replace } from "./whole.mjs";
for (let times = 1; times <= 300; times++) replace(process.argv[1], new Map([["manifest.json", String(times)], ["deep/page.html", String(times).repeat(50_000)]]));`;

test("a reader sees one complete build while another replaces it", async () => {
  const place = join(scratch, "replaced/ui");
  mkdirSync(join(scratch, "replaced/.ui-long-ago"), { recursive: true });
  utimesSync(join(scratch, "replaced/.ui-long-ago"), 0, 0);
  const writers = [1, 2].map(() =>
    spawn(process.execPath, ["--input-type=module", "-e", REPLACING, place], { stdio: "inherit" }),
  );
  const ended = Promise.all(writers.map((writer) => new Promise((resolve) => writer.on("exit", resolve))));
  const seen = new Set<string>();
  while (writers.some((writer) => writer.exitCode === null)) {
    if (existsSync(place)) {
      const at = realpathSync(place);
      const times = readFileSync(join(at, "manifest.json"), "utf8");
      seen.add(times);
      assert.equal(readFileSync(join(at, "deep/page.html"), "utf8"), times.repeat(50_000));
    } else assert.equal(seen.size, 0, "it was gone for a while");
    await new Promise(setImmediate);
  }
  assert.deepEqual(await ended, [0, 0]);
  assert(seen.size > 1, `${seen.size} builds were seen`);
  assert(!existsSync(join(scratch, "replaced/.ui-long-ago")));
  assert(existsSync(join(scratch, "replaced", basename(realpathSync(place)))));
});

test("the manifest describes each file and page correctly", () => {
  for (const [name, { path, size, gzip, integrity, type }] of Object.entries(manifest.files)) {
    const bytes = readFileSync(join(folder, path));
    assert.equal(bytes.length, size, name);
    assert.equal(statSync(join(folder, `${path}.gz`)).size, gzip, name);
    assert.deepEqual(gunzipSync(readFileSync(join(folder, `${path}.gz`))), bytes, name);
    assert.deepEqual(brotliDecompressSync(readFileSync(join(folder, `${path}.br`))), bytes, name);
    assert.equal(integrity, `sha384-${createHash("sha384").update(bytes).digest("base64")}`, name);
    assert.match(type, /^text\/(javascript|css); charset=utf-8$/, name);
    assert.match(
      path,
      name.startsWith("sdk/") ? new RegExp(`^sdk/${manifest.version}/`) : /^widget\/assets\/.+-[A-Z0-9]{8}\.(js|css)$/,
      name,
    );
  }
  for (const [name, { path, style_hash: hash }] of Object.entries(manifest.pages)) {
    const style = /<style>([\s\S]*?)<\/style>/.exec(readFileSync(join(folder, path), "utf8"))?.[1] ?? "";
    assert.equal(hash, `sha256-${createHash("sha256").update(style).digest("base64")}`, name);
  }
});

test("the SDK script has no imports and loads without a DOM", async () => {
  const script = join(folder, manifest.files["sdk/svc-widget.js"]?.path ?? "");
  assert.doesNotMatch(
    readFileSync(script, "utf8"),
    /\bimport\s*[("{*]|\beval\b|innerHTML|localStorage|sessionStorage|document\.cookie/,
  );
  const module = (await import(pathToFileURL(script).href)) as object;
  assert.deepEqual(Object.keys(module).sort(), ["SvcWidget", "SvcWidgetElement"]);
});

test("the record viewer's script has no imports, fits into a page and loads without a DOM", async () => {
  const script = join(folder, manifest.files["sdk/record-view.js"]?.path ?? "");
  assert.doesNotMatch(
    readFileSync(script, "utf8"),
    /\bimport\s*[("{*]|\beval\b|localStorage|sessionStorage|document\.cookie|<\/?script|<!--/i,
  );
  await assert.doesNotReject(import(pathToFileURL(script).href));
});

test("the package contains its exports and type-checks customer code", () => {
  const modules = join(scratch, "customer/node_modules");
  const own = join(modules, "svc-widget");
  mkdirSync(modules, { recursive: true });
  execFileSync(process.execPath, ["sdk/pack.mjs", folder, own]);
  const { exports, private: isPrivate } = JSON.parse(readFileSync(join(own, "package.json"), "utf8")) as {
    exports: Record<string, string | Record<string, string>>;
    private: boolean;
  };
  for (const path of Object.values(exports).flatMap((target) =>
    typeof target === "string" ? [target] : Object.values(target),
  ))
    assert(existsSync(join(own, path)), path);
  assert(isPrivate);
  assert(readFileSync(join(own, "react.js"), "utf8").trim().split("\n").length <= 30);

  for (const name of ["@types", "csstype"]) symlinkSync(join(process.cwd(), "node_modules", name), join(modules, name));
  cpSync("sdk/test/consumer.tsx", join(scratch, "customer/consumer.tsx"));
  const compilerOptions = {
    target: "es2022",
    module: "esnext",
    moduleResolution: "bundler",
    jsx: "react-jsx",
    strict: true,
    noEmit: true,
    types: [],
    allowImportingTsExtensions: true,
  };
  writeFileSync(join(scratch, "customer/tsconfig.json"), JSON.stringify({ compilerOptions, files: ["consumer.tsx"] }));
  execFileSync("node_modules/.bin/tsc", ["-p", join(scratch, "customer")], { stdio: "inherit" });
});
