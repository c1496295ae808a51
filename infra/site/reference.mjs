/** Renders the API descriptions with Redoc, which draws them in the browser from JSON. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { parse } from "yaml";
import { eachOperation, operationsPage, withLinks } from "./operations.mjs";
import { samplesOf } from "./samples.mjs";

const bundle = createRequire(import.meta.url).resolve("redoc/bundles/redoc.standalone.js");

/** Changes to Redoc's script: the text, its replacement, and the reason. */
const changes = [
  ["https://cdn.redoc.ly/redoc/logo-mini-full.svg", "data:,", "the site makes no request to other hosts"],
  ['` style="color: var(${i})"`', "``", "the site's policy blocks inline styles; reference.css sets the colours"],
];

/** Lists the pages: the description, and the page's title. */
const descriptions = {
  api: ["openapi", "API reference"],
  events: ["asyncapi", "Event reference"],
};

/** Returns the Markdown of the reference's page that the site's search covers. */
export function searchable(docs) {
  const [api, events] = ["openapi", "asyncapi"].map((name) => parse(read(docs, name)));
  return operationsPage(api, events);
}

const read = (docs, description) => readFileSync(join(docs, `${description}.yaml`), "utf8");

/** Returns the reference's files by path. */
export function reference(docs) {
  const files = new Map();
  for (const [name, [description, title]] of Object.entries(descriptions)) {
    const source = read(docs, description);
    files.set(`reference/${description}.yaml`, source);
    files.set(`reference/${description}.json`, JSON.stringify(forReaders(parse(source)), linked));
    files.set(`reference/${name}.html`, page(title, description));
  }
  files.set("reference/redoc.js", changes.reduce(changed, readFileSync(bundle, "utf8")));
  for (const name of ["reference.css", "reference.js"])
    files.set(`reference/${name}`, readFileSync(new URL(name, import.meta.url), "utf8"));
  return files;
}

function changed(script, [text, replacement, reason]) {
  if (!script.includes(text)) throw new Error(`Redoc's script lacks ${text}, which must be replaced: ${reason}`);
  return script.replaceAll(text, replacement);
}

/** Adds code samples to an OpenAPI document. */
function forReaders(description) {
  if (description.paths === undefined) return description;
  const parameterOf = ({ $ref, ...own }) => ($ref ? description.components.parameters[$ref.split("/").at(-1)] : own);
  eachOperation(description, (operation, method, path) => {
    operation["x-codeSamples"] = samplesOf(method, path, operation, parameterOf);
  });
  return description;
}

/** Links the documents that descriptions name, as JSON.stringify's replacer. */
function linked(name, value) {
  if (name !== "description" || typeof value !== "string") return value;
  return withLinks(value, (path) => `../${path.replace(/\.md$/, ".html")}`);
}

const page = (title, description) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} | Recordbridge</title>
<script src="../start.js"></script>
<link rel="stylesheet" href="reference.css">
<script type="module" src="reference.js"></script>
</head>
<body>
<header class="site"><a href="../index.html">Recordbridge</a> <h1>${title}</h1>
<nav aria-label="Site"><a href="../guide/index.html">Guide</a> <a href="api.html">API</a>
<a href="events.html">Events</a>
<a href="${description}.yaml" download>${description}.yaml</a></nav></header>
<redoc data-description="${description}.json"></redoc>
<noscript>This page needs JavaScript. Open <a href="${description}.yaml">${description}.yaml</a> instead.</noscript>
</body>
</html>
`;
