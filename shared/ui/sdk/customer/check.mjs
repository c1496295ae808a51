/**
 * Installs the npm package as a customer does, and compiles every snippet with it: by tsc, without any error, and by
 * vite. The argument is the folder to work in (make test-package). Its dependencies stay there between runs.
 */
import * as esbuild from "esbuild";
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const repository = join(here, "../../../..");
const { version } = JSON.parse(readFileSync(join(here, "../package.json"), "utf8"));
const work = resolve(process.argv[2]);
const archive = join(repository, `build/svc-widget-${version}.tgz`);
const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

const run = (program, ...words) => execFileSync(program, words, { cwd: work, stdio: ["ignore", "inherit", "inherit"] });

/** Installs the pinned compilers, unless they are installed, and then the package. */
function install() {
  mkdirSync(work, { recursive: true });
  const names = ["package.json", "package-lock.json"];
  const isSame = (name) =>
    existsSync(join(work, name)) && readFileSync(join(work, name)).equals(readFileSync(join(here, name)));
  if (!names.every(isSame) || !existsSync(join(work, "node_modules/.package-lock.json"))) {
    for (const name of names) copyFileSync(join(here, name), join(work, name));
    run("npm", "ci", ...quiet);
  }
  add(archive);
}

const add = (...words) => run("npm", "install", "--no-save", ...quiet, ...words);

/** Returns a TypeScript module of the workspace as JavaScript. */
async function load(path) {
  const { outputFiles } = await esbuild.build({
    entryPoints: [join(repository, "shared/ui", path)],
    bundle: true,
    write: false,
    format: "esm",
    logLevel: "error",
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

/** A project: its files, the compiler options that differ, and what vite builds. */
function build(name, files, { entry, plugins = "[]", ...options }) {
  const folder = join(work, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  const compilerOptions = {
    target: "es2022",
    module: "esnext",
    moduleResolution: "bundler",
    jsx: "react-jsx",
    strict: true,
    noEmit: true,
    types: [],
    ...options,
  };
  const checked = Object.keys(files).filter((path) => /\.(ts|tsx|js)$/.test(path));
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: checked }));
  run("node_modules/.bin/tsc", "-p", name);
  const config = `import vue from "@vitejs/plugin-vue";\nexport default { root: ${JSON.stringify(folder)}, logLevel: "error", plugins: ${plugins}, build: { minify: false, rollupOptions: { input: ${JSON.stringify(join(folder, entry))} } } };\n`;
  writeFileSync(join(folder, "vite.config.mjs"), config);
  run("node_modules/.bin/vite", "build", "--config", join(name, "vite.config.mjs"));
  console.log(`${name}: compiled`);
}

const scriptOf = (code, start) =>
  code.slice(code.indexOf(">", code.lastIndexOf(start)) + 1, code.lastIndexOf("</script>"));

/** The inline script of HTML is JavaScript: null checks are for TypeScript. */
const html = (name, code) =>
  build(
    name,
    {
      "index.html": `<!doctype html><html lang="en"><title>Page</title>${code}`,
      "inline.js": `import "svc-widget";\n${scriptOf(code, "<script")}`,
    },
    { entry: "index.html", allowJs: true, checkJs: true, strictNullChecks: false },
  );
const react = (name, code) =>
  build(name, { "connect.tsx": code, "main.ts": `export * from "./connect";\n` }, { entry: "main.ts" });
const vue = (name, code) =>
  build(
    name,
    {
      "Connect.vue": code,
      "script.ts": code.slice(code.indexOf(">") + 1, code.indexOf("</script>")),
      "main.js": `export { default } from "./Connect.vue";\n`,
    },
    {
      entry: "main.js",
      plugins: `[vue({ template: { compilerOptions: { isCustomElement: (tag) => tag.startsWith("svc-") } } })]`,
      allowJs: true,
      skipLibCheck: true,
    },
  );
/** Angular's own declarations need packages that the snippet doesn't use. */
const angular = (name, code) =>
  build(
    name,
    { "connect.ts": code, "main.ts": `export * from "./connect";\n` },
    { entry: "main.ts", experimentalDecorators: true, skipLibCheck: true },
  );

const COMPILE = { HTML: html, React: react, Vue: vue, Angular: angular };
const CHOICES = {
  least: {
    tag: "svc-widget-element",
    attributes: new Map([["public-id", "public_test_1"]]),
    style: new Map(),
    label: "",
  },
  most: {
    tag: "svc-widget-element",
    attributes: new Map([
      ["public-id", "public_test_1"],
      ["search-only", ""],
      ["external-id", `"><b>'{{x}}' @if \`\${x}\` \\ &amp;`],
    ]),
    style: new Map([["--svc-accent", "#7a2e8c"]]),
    label: `Mine & <yours> {{x}} @for`,
  },
  older: {
    tag: "svc-widget",
    attributes: new Map([
      ["public-id", "public_test_1"],
      ["connect-mode", "popup"],
    ]),
    style: new Map(),
    label: "Connect",
  },
};

install();
const { DIALECTS, snippet } = await load("demo/snippet.ts");
const dashboard = await load("dashboard/parts/snippets.ts");
const base = "https://api.example.com/v1";
for (const dialect of DIALECTS) {
  for (const [name, choice] of Object.entries(CHOICES))
    COMPILE[dialect](
      `${dialect.toLowerCase()}-${name}`,
      snippet(dialect, { ...choice, script: `${base}/sdk/4/svc-widget.js` }),
    );
}
for (const dialect of dashboard.PAGE)
  COMPILE[dialect](`dashboard-${dialect.toLowerCase()}`, dashboard.page(dialect, { base, publicId: "public_test_1" }));
const consumer = { "consumer.tsx": readFileSync(join(here, "../test/consumer.tsx"), "utf8") };
build("package", consumer, { entry: "consumer.tsx" });
add("--install-links", join(repository, "build/npm")); // a link to the folder would look for React beside the folder
build("package-folder", consumer, { entry: "consumer.tsx" });
