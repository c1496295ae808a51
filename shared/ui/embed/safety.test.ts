import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

/** What the pages must not do, in whichever file (docs/adr/0035-the-widget.md). */
const forbidden = /innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.(cookie|write)|localStorage|sessionStorage|indexedDB|BroadcastChannel|\bconsole\b|\beval\b|new Function/;

function sources(folder: string): [string, string][] {
  const names = readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)));
  const written = names.filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name));
  return written.map((name) => [name, readFileSync(name, "utf8").replace(/\/\*[^]*?\*\/|\/\/ .*/g, "")]);
}

test("the application stores nothing, writes no markup and says nothing to the console", () => {
  const all = [...sources("embed"), ...sources("kit"), ...sources("dashboard").filter(([name]) => !name.endsWith("snippets.ts"))]; // which is others' code
  assert.ok(all.length > 30);
  for (const [name, text] of all) assert.doesNotMatch(text, forbidden, name);
});

test("a link out hands on nothing, and a picture tells nobody who looks", () => {
  for (const [name, text] of sources("embed/views")) {
    for (const [tag] of text.matchAll(/<a\s[^>]*>/g)) assert.match(tag, /rel="noopener noreferrer"/, name);
    for (const [tag] of text.matchAll(/<img\s[^/]*\/>/g)) assert.match(tag, /referrerPolicy="no-referrer"/, name);
  }
});

test("the machine knows no browser", () => {
  for (const [name, text] of sources("embed/machine")) assert.doesNotMatch(text, /\b(document|window|location|navigator|fetch)\b[.(]/, name);
});
