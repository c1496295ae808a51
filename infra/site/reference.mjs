/** Renders the API descriptions with Redoc, which draws them in the browser from JSON. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { parse } from "yaml";

const bundle = createRequire(import.meta.url).resolve("redoc/bundles/redoc.standalone.js");

/** The URL of an image in Redoc's footer. The site makes no request to other hosts. */
const footerImage = "https://cdn.redoc.ly/redoc/logo-mini-full.svg";

/** Lists the pages: the description, and the page's title. */
const descriptions = {
  api: ["openapi", "API reference"],
  events: ["asyncapi", "Event reference"],
};

/** Returns the reference's files by path. */
export function reference(docs) {
  const files = new Map();
  for (const [name, [description, title]] of Object.entries(descriptions)) {
    const source = readFileSync(join(docs, `${description}.yaml`), "utf8");
    files.set(`reference/${description}.yaml`, source);
    files.set(`reference/${description}.json`, JSON.stringify(parse(source)));
    files.set(`reference/${name}.html`, page(title, description));
  }
  const script = readFileSync(bundle, "utf8");
  if (!script.includes(footerImage)) throw new Error("Redoc's footer has another image");
  files.set("reference/redoc.js", script.replaceAll(footerImage, "data:,"));
  files.set("reference/redoc.css", readFileSync(new URL("reference.css", import.meta.url), "utf8"));
  return files;
}

const page = (title, description) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} | Recordbridge</title>
<link rel="icon" href="../icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="redoc.css">
<script type="module" src="redoc.js"></script>
</head>
<body>
<header class="site"><a href="../index.html">Recordbridge</a> <nav aria-label="Site"><a href="../guide/index.html">Guide</a>
<a href="api.html">API</a> <a href="events.html">Events</a> <a href="${description}.yaml" download>${description}.yaml</a></nav></header>
<redoc spec-url="${description}.json" disable-telemetry="true"></redoc>
<noscript>This page needs JavaScript. Open <a href="${description}.yaml">${description}.yaml</a> instead.</noscript>
</body>
</html>
`;
