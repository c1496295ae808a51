/**
 * The words of TEFCA mode by language. One language's words are in the mode's chunk (build.mjs), and the other
 * language's words are in a separate chunk.
 */
import * as own from "#words/own";
import { words as tefca } from "#words/tefca-own";
import type { TefcaWord } from "./tefca-en.ts";
import { language, native as plain, type Lang, type Language, type Word } from "./language.ts";

export type Words = Word | TefcaWord;

const native = language(own.lang, { ...own.words, ...tefca });

/** Loads a language with TEFCA mode's words, like load in language.ts. */
export async function load(lang: Lang): Promise<Language<Words>> {
  if (lang === plain.lang) return native;
  try {
    const [other, more] = await Promise.all([import("#words/other"), import("#words/tefca-other")]);
    return language(other.lang, { ...other.words, ...more.words });
  } catch {
    return native;
  }
}
