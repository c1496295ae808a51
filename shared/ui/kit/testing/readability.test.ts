import assert from "node:assert/strict";
import test from "node:test";
import { englishSyllables, grade, inflesz, sentencesOf, spanishSyllables, wordsOf } from "./readability.ts";

const english: [number, string][] = [
  [1, "make shared files it’s we’ll your health signed asked work change choose done can’t"],
  [2, "table started places window doctors’ doesn’t didn’t clinic being asking trying sharing network clinics records"],
  [3, "hospital medicines allergies connection internet"],
  [4, "information identity’s unexpected"],
  [5, "automatically"],
];

const spanish: [number, string][] = [
  [1, "que más bien quién hoy"],
  [2, "guarde cuenta ciudad lugar siguen quiere pingüe"],
  [3, "código registros compartió clínica consultas"],
  [4, "hospitales información todavía continúe contraseña ubicación identidad inténtelo"],
  [5, "verificación electrónico medicamentos"],
];

test("englishSyllables counts the syllables of known words", () => {
  assert.deepEqual(
    english.flatMap(([n, words]) =>
      words
        .split(" ")
        .filter((word) => englishSyllables(word) !== n)
        .map((word) => `${word} ${englishSyllables(word)}`),
    ),
    [],
  );
});

test("spanishSyllables counts the syllables of known words", () => {
  assert.deepEqual(
    spanish.flatMap(([n, words]) =>
      words
        .split(" ")
        .filter((word) => spanishSyllables(word) !== n)
        .map((word) => `${word} ${spanishSyllables(word)}`),
    ),
    [],
  );
});

test("wordsOf and sentencesOf split text at spaces and full stops", () => {
  assert.deepEqual(wordsOf("Don’t wait: write to ada@mail.example, {n}."), [
    "Don’t",
    "wait",
    "write",
    "to",
    "ada@mail.example",
    "n",
  ]);
  assert.equal(sentencesOf("Nothing was shared. Try again"), 2);
  assert.equal(sentencesOf("You’re connected"), 1);
});

test("grade and inflesz match their published formulas", () => {
  assert.ok(Math.abs(grade("The cat sat on the mat.") - (0.39 * 6 + 11.8 - 15.59)) < 1e-9);
  assert.ok(Math.abs(inflesz("El sol es azul.") - (206.835 - (62.3 * 5) / 4 - 4)) < 1e-9);
});
