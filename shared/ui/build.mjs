/**
 * Builds the pages and the SDK into build/ui (docs/adr/0035-the-widget.md), from where `web` serves them. The build is
 * reproducible, and writes nothing if nothing has changed.
 *
 *   manifest.json                 the files by logical name ("embed.en.js", "es.js", "sdk/svc-widget.js"), and the pages
 *   pages/<page>.<lang>.html      whole pages in each language; the server fills in {{title}}, {{boot}} and the
 *                               organisation's {{scheme}} and {{look}}
 *   widget/assets/<name>-<hash>   immutable, next to their .gz and .br
 *   sdk/<version>/<element>.js    the widget's and the record viewer's elements, immutable, next to their .gz and .br
 *
 * A page's source is <folder>/page.html. The build replaces {{critical}} with <folder>/critical.css (once, alone in the
 * only <style>), {{lang}} with the language, {{class}} with the page's class, and {{script}} and {{sheet}} with their
 * URLs relative to the page. It builds each script once per language, with that language's words
 * (kit/words/language.ts). The optional argument is another output folder.
 */
import * as esbuild from "esbuild";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join, posix, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { replace } from "./whole.mjs";

const root = dirname(fileURLToPath(import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, "sdk/package.json"), "utf8"));

/** Lists the languages in the order of the server's httpapi package. Each language is a condition of package.json's imports. */
const languages = ["en", "es"];

/**
 * Lists the applications. Each application has a folder, a script and pages with their folder below the base URL. It
 * may also have modules that the script loads later from separate files.
 */
const applications = [
  {
    ...{ folder: "embed", script: "main.tsx", later: ["rest.tsx", "tefca.tsx"], sheet: "embed.css" },
    pages: { embed: { place: "widget", class: "" }, connect: { place: "widget", class: "page" } },
  },
  { folder: "demo", script: "main.tsx", pages: { demo: { place: "", class: "" } } },
  { folder: "dashboard", script: "main.tsx", sheet: "dashboard.css", pages: { dashboard: { place: "", class: "" } } },
];

const types = { ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8" };

/** The options of all bundles. */
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

/** Returns the manifest and the content of every file by path. */
async function build() {
  const manifest = { version, files: {}, pages: {} };
  const contents = new Map();
  for (const [folder, name] of Object.entries({ sdk: "svc-widget", record: "record-view" })) {
    const script = await bundle([{ in: `${folder}/${name}.ts`, out: name }], { plugins: [sheetAsText] });
    addAsset(`sdk/${name}.js`, `sdk/${version}/${name}.js`, script[0].contents, manifest, contents);
  }
  for (const application of applications) {
    const critical = (await bundle([{ in: join(application.folder, "critical.css"), out: "critical" }]))[0].text.trim();
    for (const lang of languages) await addApplication(application, lang, critical, manifest, contents);
  }
  manifest.files = Object.fromEntries(Object.entries(manifest.files).sort(([a], [b]) => (a < b ? -1 : 1)));
  contents.set("manifest.json", `${JSON.stringify(manifest, null, 2)}\n`);
  return { manifest, contents };
}

/**
 * Adds an application in one language. A file that is the same in all languages, such as the style sheet, gets the same
 * name and path each time.
 */
async function addApplication({ folder, script, later = [], sheet, pages }, lang, critical, manifest, contents) {
  const entries = [
    { in: join(folder, script), out: folder },
    ...(sheet ? [{ in: join(folder, sheet), out: folder }] : []),
  ];
  const names = { entryNames: "[name]-[hash]", chunkNames: "[name]-[hash]" };
  const plugins = [
    sharing(
      join(root, folder, script),
      later.map((name) => join(root, folder, name)),
    ),
  ];
  const options = { splitting: true, ...names, conditions: ["module", lang], plugins };
  const outputs = inOneFile(folder, await bundle(entries, options));
  const places = {};
  const own = new RegExp(`^(${folder}|tefca|rest|shared)\\.js$`); // contains words, or imports the file that contains them
  for (const { path, contents: bytes } of outputs) {
    const base = posix.basename(path);
    const name = base.replace(/-[A-Z0-9]{8}(?=\.[a-z]+$)/, "").replace(own, `$1.${lang}.js`);
    places[name] = `widget/assets/${base}`;
    addAsset(name, places[name], bytes, manifest, contents);
  }
  const source = readFileSync(join(root, folder, "page.html"), "utf8");
  for (const [name, page] of Object.entries(pages)) {
    const address = (of) => of && posix.relative(page.place, places[of]);
    const known = { lang, critical, class: page.class, script: address(`${folder}.${lang}.js`), sheet: address(sheet) };
    addPage(`${name}.${lang}`, fill(source, known), manifest, contents);
  }
}

/**
 * Makes esbuild put the whole application into one file, which the later modules share. By default, esbuild writes
 * modules that both the script and a later module need to a third file. For esbuild only, each later module therefore
 * imports the script.
 */
const sharing = (script, later) => ({
  name: "sharing",
  setup(build) {
    build.onLoad({ filter: /\.tsx$/ }, ({ path }) => {
      if (!later.includes(path)) return undefined;
      return { contents: `import ${JSON.stringify(script)};\n${readFileSync(path, "utf8")}`, loader: "tsx" };
    });
  },
});

/**
 * Merges the script into the application's file. If modules are loaded later, esbuild writes the application to a
 * shared file (see sharing), and the script's own file only imports the shared file. Because a page names only one
 * script and waits for no second script, the shared file takes the script's path and name. Code that only the later
 * modules share is in a file named "shared".
 */
function inOneFile(folder, outputs) {
  const own = new RegExp(`^${folder}-[A-Z0-9]{8}\\.js$`);
  const isChunk = ({ path }) => posix.basename(path).startsWith("chunk-");
  if (!outputs.some(isChunk)) return outputs;
  const script = outputs.find(({ path }) => own.test(posix.basename(path)));
  const [whole, ...others] = [...script.text.matchAll(/\bchunk-[A-Z0-9]{8}\.js/g)].map(([name]) => name);
  if (others.length > 0 || outputs.filter(isChunk).length > 2) throw new Error(`${folder} is in more than one file`);
  const named = (text) =>
    text.replaceAll(/\bchunk-[A-Z0-9]{8}\.js/g, (name) => name.replace("chunk", name === whole ? folder : "shared"));
  return outputs
    .filter((output) => output !== script)
    .map(({ path, text }) => ({ path: named(path), contents: Buffer.from(named(text)) }));
}

/** Replaces the placeholders that the build supports, and rejects placeholders that neither the build nor the server supports. */
function fill(html, known) {
  return html.replaceAll(/\{\{([^{}]+)\}\}/g, (placeholder, name) => {
    if (["title", "boot", "scheme", "look"].includes(name)) return placeholder;
    if (known[name] === undefined) throw new Error(`nothing is known that could stand for ${placeholder}`);
    return known[name];
  });
}

async function bundle(entryPoints, options = {}) {
  const { outputFiles } = await esbuild.build({ ...common, ...options, entryPoints });
  return outputFiles;
}

/** Imports the elements' style sheet as a string, because the sheet is used only in shadow roots and must not cost a second request. */
const sheetAsText = {
  name: "sheet-as-text",
  setup(build) {
    build.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await esbuild.transform(readFileSync(path, "utf8"), {
        loader: "css",
        minify: true,
        target: common.target,
      });
      return { contents: code.trim(), loader: "text" };
    });
  },
};

function addAsset(name, path, bytes, manifest, contents) {
  const packed = gzipSync(bytes, { level: 9 });
  contents.set(path, bytes);
  contents.set(`${path}.gz`, packed);
  contents.set(
    `${path}.br`,
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
  );
  const integrity = `sha384-${createHash("sha384").update(bytes).digest("base64")}`;
  manifest.files[name] = { path, size: bytes.length, gzip: packed.length, integrity, type: types[posix.extname(path)] };
}

function addPage(name, html, manifest, contents) {
  const styles = [...html.matchAll(/<style>([\s\S]*?)<\/style>/g)];
  if (styles.length !== 1 || /\sstyle=/.test(html))
    throw new Error(`${name}.html needs exactly one <style>, and no style attribute: the CSP has one hash`);
  const path = `pages/${name}.html`;
  contents.set(path, html);
  manifest.pages[name] = {
    path,
    size: Buffer.byteLength(html),
    style_hash: `sha256-${createHash("sha256").update(styles[0][1]).digest("base64")}`,
  };
}

const { manifest, contents } = await build();
replace(resolve(process.argv[2] ?? join(root, "../../build/ui")), contents);
for (const [name, { path, gzip }] of Object.entries(manifest.files))
  console.log(`${name.padEnd(20)} ${String(gzip).padStart(6)} B gz  ${path}`);
