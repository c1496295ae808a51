/**
 * Builds the documentation site into build/site, from where `web` serves it (docs/adr/0056-the-documentation-site.md).
 * The source is docs/: Markdown, openapi.yaml and asyncapi.yaml. If the source and this folder are unchanged since the
 * last build, the script does nothing. The optional argument is another output folder.
 *
 *   manifest.json   the media type and hash of every file by path
 *   assets/         files whose names contain a hash of their content
 *   *.html, …       pages and other files; large files are next to their .gz
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { replace } from "../../shared/ui/whole.mjs";
import { reference, searchable } from "./reference.mjs";
import { withoutBase } from "./relative.mjs";

const root = dirname(fileURLToPath(import.meta.url));
const docs = join(root, "../../docs");
/** The documents for client generators, which infra/apiparts derives from openapi.yaml. */
const parts = join(root, "../../build/openapi");
const out = resolve(process.argv[2] ?? join(root, "../../build/site"));

const types = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".yaml": "application/yaml",
};

/** The minimum size in bytes of a file that is also stored compressed. */
const COMPRESSED = 1024;

/** The folders of installed packages, caches and compiled examples, which filesIn skips. */
const installed = new Set(["node_modules", ".venv", "cache", "dist"]);

/** Lists the files below a folder by path, except installed packages and caches. */
function filesIn(folder, prefix = "") {
  return readdirSync(join(folder, prefix), { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(prefix, entry.name);
      if (entry.isDirectory()) return installed.has(entry.name) ? [] : filesIn(folder, path);
      return entry.isFile() ? [path] : [];
    })
    .sort();
}

const digest = (content) => createHash("sha256").update(content).digest("base64url");

/** Returns whether the site contains a file of docs/. The examples' code isn't part of the site. */
const isSource = (name) => /\.(md|png|yaml)$/.test(name);

/** Returns a hash of everything that determines the site's content. */
function stampOf() {
  const sources = [docs, root, parts].flatMap((folder) =>
    filesIn(folder)
      .filter((name) => folder !== docs || isSource(name))
      .map((name) => `${name} ${digest(readFileSync(join(folder, name)))}`),
  );
  return digest([process.version, ...sources].join("\n"));
}

function stampedIn(folder) {
  const manifest = join(folder, "manifest.json");
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")).source : undefined;
}

/** Copies the documents to a folder in which each README.md is its folder's index.md, as VitePress expects. */
function stage(folder) {
  for (const name of filesIn(docs).filter((one) => isSource(one) && !one.endsWith(".yaml"))) {
    const to = join(folder, name.replace(/README\.md$/, "index.md"));
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, readFileSync(join(docs, name)));
  }
  writeFileSync(join(folder, "reference/operations.md"), searchable(docs));
}

/** Runs VitePress and returns the content of every file by path. */
async function pages(folder) {
  const source = join(folder, "source");
  stage(source);
  process.env["SITE_SOURCE"] = source;
  const { build } = await import("vitepress");
  const built = join(folder, "built");
  await build(root, { outDir: built });
  return new Map(filesIn(built).map((name) => [name, readFileSync(join(built, name))]));
}

function withManifest(source, files) {
  const contents = new Map();
  const manifest = { source, files: {} };
  for (const [path, content] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const type = types[extname(path)];
    if (type === undefined) throw new Error(`${path} has no known media type`);
    const bytes = type.startsWith("image/png") ? content : Buffer.from(withoutBase(path, content.toString()));
    contents.set(path, bytes);
    manifest.files[path] = { type, hash: digest(bytes) };
    if (bytes.length < COMPRESSED || type === "image/png") continue;
    contents.set(`${path}.gz`, gzipSync(bytes, { level: 9 }));
    manifest.files[path].gzip = true;
  }
  contents.set("manifest.json", `${JSON.stringify(manifest)}\n`);
  return contents;
}

const stamp = stampOf();
if (stampedIn(out) !== stamp) {
  mkdirSync(dirname(out), { recursive: true });
  const folder = mkdtempSync(join(dirname(out), ".site-source-"));
  try {
    const files = await pages(folder);
    for (const [path, content] of reference(docs)) files.set(path, Buffer.from(content));
    for (const name of filesIn(parts)) files.set(`openapi/${name}`, readFileSync(join(parts, name)));
    replace(out, withManifest(stamp, files));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
