/**
 * Checks the imports between the TypeScript sources, including type imports. The modules must form no cycle, and each
 * import must be allowed by the folder order below. `npm run check` runs this script. The compiler's import graph (tsc
 * --explainFiles) is used, so the check includes lazy imports, JSON files and the names of package.json's imports. The
 * optional argument is another folder with a tsconfig.json.
 */
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(fileURLToPath(import.meta.url));

/**
 * The folder order, lowest folder first. Each entry lists the folders that its folder may import. These folders must
 * precede the entry, so that folders form no cycle.
 */
const order = {
  kit: [],
  "kit/words": [],
  sdk: ["kit"],
  "embed/api": ["kit"],
  "embed/machine": ["kit", "embed/api"],
  "embed/views": ["kit", "kit/words", "embed/api", "embed/machine"],
  "embed/views/tefca": ["kit/words", "embed/api", "embed/machine", "embed/views"],
  embed: ["kit", "kit/words", "embed/api", "embed/machine", "embed/views", "embed/views/tefca"],
  demo: ["sdk"],
  record: [],
  "dashboard/api": [],
  "dashboard/app": ["dashboard/api"],
  "dashboard/parts": ["demo", "dashboard/api", "dashboard/app"],
  "dashboard/screens": ["kit", "dashboard/api", "dashboard/app", "dashboard/parts"],
  "dashboard/shell": ["dashboard/api", "dashboard/app", "dashboard/parts", "dashboard/screens"],
  dashboard: ["dashboard/api", "dashboard/app", "dashboard/parts", "dashboard/screens", "dashboard/shell"],
  // The npm package's declarations, and test code.
  "sdk/package": ["kit"],
  "sdk/test": ["kit", "sdk", "sdk/package"],
  "kit/testing": [],
  "embed/testing": ["kit", "sdk", "sdk/test", "embed/api", "embed/machine"],
  "dashboard/testing": ["dashboard/api"],
  "e2e/support": ["kit", "kit/words", "embed/api"],
  "e2e/journeys": ["kit", "e2e/support"],
  "e2e/sdk": ["kit", "e2e/support"],
  "e2e/engines": ["kit", "kit/words", "e2e/support"],
  "e2e/tefca": ["kit", "kit/words", "sdk", "sdk/test", "embed/api", "e2e/support"],
  "e2e/dashboard": ["dashboard/api", "dashboard/parts", "dashboard/testing", "e2e/support"],
  "e2e/record": ["e2e/support"],
  "e2e/docs": ["dashboard/parts", "e2e/support"],
  e2e: [],
  "e2e/examples": ["e2e", "e2e/support"],
};

/** Defines which files are tests. A unit test may import every folder in the order. No module may import a unit test or a journey. */
const isUnitTest = (file) => /\.test\.tsx?$/.test(file);
const isTest = (file) => isUnitTest(file) || file.endsWith(".spec.ts");

/** Returns the imports of each file in the folder. */
function importsIn(folder) {
  const tsc = join(root, "node_modules/.bin/tsc");
  const settings = { cwd: folder, encoding: "utf8", maxBuffer: 1 << 26 };
  const printed = execFileSync(tsc, ["--noEmit", "--noCheck", "--explainFiles"], settings);
  const isSource = (file) => !/^\.\.|^\/|node_modules\//.test(file);
  const imports = new Map();
  let imported = "";
  for (const line of printed.split("\n")) {
    if (!/^\s/.test(line)) imported = line;
    const from = /^ +Imported via .* from file '([^']+)'/.exec(line)?.[1];
    if (from === undefined || !isSource(from) || !isSource(imported)) continue;
    imports.set(from, (imports.get(from) ?? new Set()).add(imported));
  }
  if (imports.size === 0) throw new Error("tsc --explainFiles printed no import that this script can read");
  return imports;
}

/** Returns the errors in the order itself: entries that name a folder that does not precede them. */
function disorder() {
  const folders = Object.keys(order);
  const named = Object.entries(order).flatMap(([folder, below]) => below.map((other) => [folder, other]));
  const isBefore = (other, folder) => folders.slice(0, folders.indexOf(folder)).includes(other);
  const wrong = named.filter(([folder, other]) => !isBefore(other, folder));
  return wrong.map(([folder, other]) => `layers.mjs names ${other} for ${folder}, but does not list it before`);
}

/** Returns the imports that the folder order does not allow. */
function forbidden(imports) {
  const edges = [...imports].flatMap(([from, files]) => [...files].map((to) => [from, to]));
  return edges.flatMap(([from, to]) => {
    const [above, below] = [dirname(from), dirname(to)];
    if (isTest(to)) return [`${from} imports ${to}, a test`];
    if (order[below] === undefined) return [`${from} imports ${to}: ${below} is not in the order of layers.mjs`];
    if (isUnitTest(from) || above === below || order[above]?.includes(below)) return [];
    return [`${from} imports ${to}: ${above} may not import ${below}`];
  });
}

/** Returns at least one cycle for each group of modules that import each other. */
function circles(imports) {
  const found = [];
  const done = new Set();
  const visit = (file, path) => {
    if (path.includes(file)) found.push([...path.slice(path.indexOf(file)), file]);
    if (done.has(file) || path.includes(file)) return;
    for (const next of imports.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of [...imports.keys()].sort()) visit(file, []);
  return found.map((circle) => `import circle: ${circle.join(" → ")}`);
}

const imports = importsIn(process.argv[2] ?? root);
const mistakes = [...disorder(), ...forbidden(imports), ...circles(imports)];
for (const mistake of mistakes) console.error(mistake);
process.exitCode = mistakes.length > 0 ? 1 : 0;
