import assert from "node:assert/strict";
import test from "node:test";
import { words as en } from "./en.ts";
import { words as es } from "./es.ts";
import { choose, language } from "./language.ts";
import { words as tefcaEn } from "./tefca-en.ts";
import { words as tefcaEs } from "./tefca-es.ts";

/** Every text with its translation. */
const pairs = Object.entries({ ...en, ...tefcaEn }).map(
  ([word, text]) => [word, text, ({ ...es, ...tefcaEs } as Record<string, string>)[word] ?? ""] as const,
);

test("translations use the same placeholders", () => {
  const names = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
  for (const [word, english, spanish] of pairs) assert.deepEqual(names(spanish), names(english), word);
});

test("each text is translated", () => {
  assert.deepEqual(
    pairs.filter(([, english, spanish]) => english === spanish),
    [],
  );
  assert.equal(pairs.length, Object.keys(en).length + Object.keys(tefcaEn).length, "the mode's words are its own");
});

test("count and date use the selected language's formats", () => {
  const [english, spanish] = [language("en", en), language("es", es)];
  assert.equal(english.count("found", 1), "1 result");
  assert.equal(english.count("found", 1234), "1,234 results");
  assert.equal(spanish.count("found", 0), "0 resultados");
  assert.equal(spanish.date("2027-02-19T12:00:00Z"), "19 de febrero de 2027");
  assert.equal(english.date("soon"), "soon");
});

test("choose returns the first supported language", () => {
  assert.equal(choose(undefined, "fr", "es-MX", "en"), "es");
  assert.equal(choose("EN-us"), "en");
  assert.equal(choose("xx", ""), "en");
});

test("say inserts values into a translation as literal text", () => {
  assert.equal(language("en", en).say("found_none", { query: "{n} $& <b>" }), "No results for “{n} $& <b>”");
});
