/**
 * The words of TEFCA mode by language. One language's words are in the mode's chunk (build.mjs), and the other
 * language's words are in a separate chunk.
 */
import { words as tefca } from "#words/tefca-own";
import "./later.ts"; // the mode's views use these texts too
import type { TefcaWord } from "./tefca-en.ts";
import { extend, language, type Lang, type Language, type Word } from "./language.ts";

export type Words = Word | TefcaWord;

const native = extend(tefca);

/** Loads a language with TEFCA mode's words, like load in language.ts. */
export async function load(lang: Lang): Promise<Language<Words>> {
  if (lang === native.lang) return native;
  try {
    const [other, more] = await Promise.all([import("#words/other"), import("#words/tefca-other")]);
    return language(other.lang, { ...other.words, ...more.words });
  } catch {
    return native;
  }
}
