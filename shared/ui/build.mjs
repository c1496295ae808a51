/**
 * Builds the pages and the SDK into build/ui (docs/adr/0035-the-widget.md), from where `web` serves them. The same input gives the same bytes.
 *
 *   manifest.json                 what there is, by logical name ("embed.js", "es.js", "sdk/svc-widget.js") and by page
 *   pages/<page>.html             whole pages; {{lang}}, {{title}} and {{boot}} are for the server to fill
 *   widget/assets/<name>-<hash>   immutable, with .gz and .br beside
 *   sdk/<version>/svc-widget.js   immutable, with .gz and .br beside
 *
 * A page's source is <folder>/<page>.html. In it {{critical}} stands for <folder>/critical.css (once, alone in the only <style>), and the logical name
 * of a file, as {{embed.js}}, for its address relative to the page's. A folder that is not there is left out and told. The argument is another folder to
 * write into.
 */
import * as esbuild from "esbuild";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const root = dirname(fileURLToPath(import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, "sdk/package.json"), "utf8"));

/** The applications: the folder, its entries, and its pages with the folder of the page's address below the base URL. */
const applications = [
  { folder: "embed", name: "embed", pages: { embed: "widget", connect: "widget" } },
  { folder: "demo", name: "demo", pages: { demo: "" } },
];

const types = { ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8" };

/** What all bundles have in common. */
const common = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  write: false,
  format: "esm",
  platform: "browser",
  target: ["es2022", "chrome111", "firefox119", "safari16.4"],
  charset: "utf8",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  outdir: "out",
  logLevel: "warning",
};

/** Writes all files into out, an absolute path, and answers with the manifest. */
async function build(out) {
  const files = [];
  const pages = {};
  const script = entry("sdk", "svc-widget");
  if (script) {
    const path = `sdk/${version}/svc-widget.js`;
    files.push({ name: "sdk/svc-widget.js", path, bytes: (await bundle([script], { plugins: [sheetAsText] }))[0].contents });
  } else missing("sdk", "svc-widget");
  for (const application of applications) await addApplication(application, files, pages);

  rmSync(out, { recursive: true, force: true });
  const manifest = { version, files: {}, pages: {} };
  for (const file of files.sort(byName)) manifest.files[file.name] = writeAsset(out, file);
  for (const [name, html] of Object.entries(pages)) manifest.pages[name] = writePage(out, name, html);
  write(out, "manifest.json", `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

async function addApplication({ folder, name, pages: places }, files, pages) {
  const script = entry(folder, name);
  if (!script) return missing(folder, name);
  const sheet = join(folder, `${name}.css`);
  const entries = existsSync(join(root, sheet)) ? [script, { in: sheet, out: name }] : [script];
  const outputs = await bundle(entries, { splitting: true, entryNames: "[name]-[hash]", chunkNames: "[name]-[hash]" });
  const taken = new Set(files.map((file) => file.name));
  for (const output of outputs) {
    const base = posix.basename(output.path);
    const plain = base.replace(/-[A-Z0-9]{8}(?=\.[a-z]+$)/, "");
    const logical = taken.has(plain) ? base : plain;
    taken.add(logical);
    files.push({ name: logical, path: `widget/assets/${base}`, bytes: output.contents });
  }
  for (const [page, place] of Object.entries(places)) {
    const source = join(root, folder, `${page}.html`);
    if (!existsSync(source)) missing(folder, `${page}.html`);
    else pages[page] = await fill(readFileSync(source, "utf8"), folder, place, files);
  }
}

/** Replaces in a page what the build knows, and refuses a placeholder that neither it nor the server knows. */
async function fill(html, folder, place, files) {
  const critical = join(folder, "critical.css");
  const css = existsSync(join(root, critical)) ? (await bundle([{ in: critical, out: "critical" }]))[0].text.trim() : "";
  return html.replaceAll(/\{\{([^{}]+)\}\}/g, (placeholder, name) => {
    if (["lang", "title", "boot"].includes(name)) return placeholder;
    if (name === "critical") return css;
    const file = files.find((candidate) => candidate.name === name);
    if (!file) throw new Error(`${folder}: there is no file for ${placeholder}`);
    return posix.relative(place, file.path);
  });
}

function entry(folder, out) {
  const path = ["main.tsx", "main.ts", `${out}.ts`].map((name) => join(folder, name)).find((name) => existsSync(join(root, name)));
  return path && { in: path, out };
}

function missing(folder, name) {
  console.warn(`ui: ${folder} has no ${name} yet: built without it`);
}

async function bundle(entryPoints, options = {}) {
  const { outputFiles } = await esbuild.build({ ...common, ...options, entryPoints });
  return outputFiles;
}

/** Gives the elements their sheet as a string: it is theirs alone, in a shadow, and no second request. */
const sheetAsText = {
  name: "sheet-as-text",
  setup(build) {
    build.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await esbuild.transform(readFileSync(path, "utf8"), { loader: "css", minify: true, target: common.target });
      return { contents: code.trim(), loader: "text" };
    });
  },
};

function writeAsset(out, { path, bytes }) {
  const packed = gzipSync(bytes, { level: 9 });
  write(out, path, bytes);
  write(out, `${path}.gz`, packed);
  write(out, `${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }));
  const integrity = `sha384-${createHash("sha384").update(bytes).digest("base64")}`;
  return { path, size: bytes.length, gzip: packed.length, integrity, type: types[posix.extname(path)] };
}

function writePage(out, name, html) {
  const styles = [...html.matchAll(/<style>([\s\S]*?)<\/style>/g)];
  if (styles.length !== 1 || /\sstyle=/.test(html)) throw new Error(`${name}.html needs exactly one <style>, and no style attribute: the CSP has one hash`);
  const path = `pages/${name}.html`;
  write(out, path, html);
  return { path, size: Buffer.byteLength(html), style_hash: `sha256-${createHash("sha256").update(styles[0][1]).digest("base64")}` };
}

function write(out, path, content) {
  const file = join(out, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

function byName(a, b) {
  return a.name < b.name ? -1 : 1;
}

const { files } = await build(resolve(process.argv[2] ?? join(root, "../../build/ui")));
for (const [name, { path, gzip }] of Object.entries(files)) console.log(`${name.padEnd(20)} ${String(gzip).padStart(6)} B gz  ${path}`);
