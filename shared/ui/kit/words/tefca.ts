/** The languages with TEFCA mode's words, which are in its chunk (build.mjs); the other language's are in a separate one. */
import * as own from "#words/own";
import { words as tefca } from "#words/tefca-own";
import type { TefcaWord } from "./tefca-en.ts";
import { language, native as plain, type Lang, type Language, type Word } from "./language.ts";

export type Words = Word | TefcaWord;

const native = language(own.lang, { ...own.words, ...tefca });

/** Like load of language.ts. */
export async function load(lang: Lang): Promise<Language<Words>> {
  if (lang === plain.lang) return native;
  try {
    const [other, more] = await Promise.all([import("#words/other"), import("#words/tefca-other")]);
    return language(other.lang, { ...other.words, ...more.words });
  } catch {
    return native;
  }
}
