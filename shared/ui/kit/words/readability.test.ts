/** Patients read these texts on a phone, and some patients are ill or in a hurry. The texts therefore have to be easy to read. */
import assert from "node:assert/strict";
import test from "node:test";
import { wordsIn } from "../../sdk/words.ts";
import { grade, inflesz, wordsOf } from "../testing/readability.ts";
import { words as en } from "./en.ts";
import { words as es } from "./es.ts";
import { words as tefcaEn } from "./tefca-en.ts";
import { words as tefcaEs } from "./tefca-es.ts";

const hardest = 6; // Flesch-Kincaid grade: readers aged eleven to twelve
const hardestSpanish = 65; // INFLESZ: "quite easy" starts here
const long = 30; // words; in a shorter text, a single long word decides the result
const longest = 18; // words per sentence

/** Replaces each placeholder with a short name or number. */
const filled = (texts: Record<string, string>): [string, string][] =>
  Object.entries(texts).map(([word, text]) => [
    word,
    text.replace(/\{(\w+)\}/g, (_, name) => (/^(n|all|id|date)$/.test(name) ? "3" : "Alder")),
  ]);

const english = filled({ ...en, ...tefcaEn, ...wordsIn("en") });
const spanish = filled({ ...es, ...tefcaEs, ...wordsIn("es") });
const isLong = ([, text]: [string, string]): boolean => wordsOf(text).length >= long;
const isSentence = ([, text]: [string, string]): boolean => /[.!?]$/.test(text);

test("English patient texts have an overall Flesch-Kincaid grade of at most 6", () => {
  const all = grade(...english.map(([, text]) => text));
  const sentences = grade(...english.filter(isSentence).map(([, text]) => text));
  assert.ok(all <= hardest && sentences <= hardest, `${all} ${sentences}`);
});

test("each long English patient text has a Flesch-Kincaid grade of at most 6", () => {
  const hard = english
    .filter(isLong)
    .map(([word, text]) => [word, grade(text)] as const)
    .filter(([, score]) => score > hardest);
  assert.deepEqual(hard, []);
});

test("Spanish patient texts have an overall INFLESZ score of at least 65", () => {
  const all = inflesz(...spanish.map(([, text]) => text));
  const sentences = inflesz(...spanish.filter(isSentence).map(([, text]) => text));
  assert.ok(all >= hardestSpanish && sentences >= hardestSpanish, `${all} ${sentences}`);
});

test("each long Spanish patient text has an INFLESZ score of at least 65", () => {
  const hard = spanish
    .filter(isLong)
    .map(([word, text]) => [word, inflesz(text)] as const)
    .filter(([, score]) => score < hardestSpanish);
  assert.deepEqual(hard, []);
});

test("sentences in patient texts contain at most 18 words", () => {
  const sentences = [...english, ...spanish].flatMap(([word, text]) =>
    text.split(/(?<=[.!?])\s+/).map((sentence) => [word, sentence] as const),
  );
  assert.deepEqual(
    sentences.filter(([, sentence]) => wordsOf(sentence).length > longest),
    [],
  );
});
