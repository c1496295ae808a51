import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

/** Constructs that the pages' sources must not contain (docs/adr/0035-the-widget.md). */
const forbidden =
  /innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.(cookie|write)|localStorage|indexedDB|BroadcastChannel|\bconsole\b|\beval\b|new Function/;

function sources(folder: string): [string, string][] {
  const names = readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)));
  const written = names.filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name));
  return written.map((name) => [name, readFileSync(name, "utf8").replace(/\/\*[^]*?\*\/|\/\/ .*/g, "")]);
}

test("the widget uses no raw markup and no console, and uses storage only in keep.ts", () => {
  const all = [
    ...sources("embed"),
    ...sources("kit"),
    ...sources("dashboard").filter(([name]) => !name.endsWith("snippets.ts")),
  ]; // third-party code
  assert.ok(all.length > 30);
  for (const [name, text] of all) assert.doesNotMatch(text, forbidden, name);
  assert.deepEqual(
    all.filter(([, text]) => /sessionStorage/.test(text)).map(([name]) => name),
    ["embed/keep.ts"],
  );
});

test("external links and images send no referrer, and external links expose no opener", () => {
  for (const [name, text] of sources("embed/views")) {
    for (const [tag] of text.matchAll(/<a\s[^>]*>/g)) assert.match(tag, /rel="noopener noreferrer"/, name);
    for (const [tag] of text.matchAll(/<img\s[^/]*\/>/g)) assert.match(tag, /referrerPolicy="no-referrer"/, name);
  }
});

test("the machine uses no browser globals", () => {
  for (const [name, text] of sources("embed/machine"))
    assert.doesNotMatch(text, /\b(document|window|location|navigator|fetch)\b[.(]/, name);
});
