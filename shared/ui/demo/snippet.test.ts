import assert from "node:assert/strict";
import test from "node:test";
import { snippet } from "./snippet.ts";
import type { Choice } from "./snippet.ts";

const choice: Choice = {
  tag: "svc-widget-element",
  attributes: new Map([
    ["public-id", "public_test_1"],
    ["search-only", ""],
    ["external-id", `"><script>'{{x}}'</script>&`],
  ]),
  style: new Map([["--svc-accent", "#7a2e8c"]]),
  label: `Mine & <yours>`,
  script: "https://api.example/v1/sdk/4/svc-widget.js",
};

test("the HTML and Vue snippets escape typed values", () => {
  for (const dialect of ["HTML", "Vue"] as const) {
    const code = snippet(dialect, choice);
    assert.ok(code.includes(`external-id="&quot;>&lt;script>'{{x}}'&lt;/script>&amp;"`), code);
    assert.ok(code.includes("Mine &amp; &lt;yours>"), code);
  }
});

test("the React snippet quotes typed values as JavaScript strings", () => {
  const code = snippet("React", choice);
  assert.ok(code.includes(`external-id={${JSON.stringify(choice.attributes.get("external-id"))}}`), code);
  assert.ok(code.includes('{"Mine & <yours>"}'), code);
  assert.ok(code.includes('style={{"--svc-accent":"#7a2e8c"}}'), code);
});

test("the Angular snippet escapes typed values in its template", () => {
  const code = snippet("Angular", { ...choice, label: "`${x}` @if \\" });
  assert.ok(code.includes(`external-id="&quot;>&lt;script>'&#123;&#123;x&#125;&#125;'&lt;/script>&amp;"`), code);
  assert.ok(code.includes("\\`$&#123;x&#125;\\` &#64;if \\\\"), code);
  assert.match(code, /\(eventBus\)="told\(\$event\)"/);
});

test("a snippet writes enabled switches as boolean attributes and omits the others", () => {
  assert.match(snippet("HTML", choice), /\n {2}search-only\n/);
  const bare = snippet("HTML", { ...choice, attributes: new Map(), style: new Map(), label: "" });
  assert.match(bare, /^<svc-widget-element><\/svc-widget-element>$/m);
  assert.doesNotMatch(bare, /<style>/);
});
