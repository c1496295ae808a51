/**
 * The supported languages, and the placeholders in their texts. Each language has its own bundle that contains its
 * words (build.mjs), so that the words of one language are always available.
 */
import { lang as ownLang, words as first } from "#words/own";
import type { Words } from "./en.ts";

export type Lang = "en" | "es";
export type Word = keyof Words;

/** A text in singular and plural. */
type Counted<W extends string> = W extends `${infer Stem}_one` ? Stem : never;

/** The values of placeholders. */
export type Values = Record<string, string>;

/** A language with its texts and formats. A mode may add words. */
export interface Language<W extends string = Word> {
  lang: Lang;
  say(word: W, values?: Values): string;
  /** Returns the text split at its placeholders, with strings at even indexes and placeholder names at odd indexes. */
  parts(word: W): string[];
  count(word: Counted<W>, n: number): string;
  date(rfc3339: string): string;
}

/** Returns the first supported language in a list of preferred languages. */
export function choose(...wanted: (string | undefined | null)[]): Lang {
  for (const tag of wanted) {
    const lang = tag?.toLowerCase().split("-")[0];
    if (lang === "en" || lang === "es") return lang;
  }
  return "en";
}

/** Loads a language. If loading fails, returns the bundle's own language. */
export async function load(lang: Lang): Promise<Language> {
  if (lang === native.lang) return native;
  try {
    const other = await import("#words/other");
    return language(other.lang, other.words);
  } catch {
    return native;
  }
}

export function language<W extends string>(lang: Lang, words: Record<W, string>): Language<W> {
  const plural = new Intl.PluralRules(lang);
  const number = new Intl.NumberFormat(lang);
  const say = (word: W, values: Values = {}): string =>
    words[word].replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
  return {
    lang,
    say,
    parts: (word) => words[word].split(/\{(\w+)\}/),
    // Spanish also has a plural form for millions, which the texts' counts never reach.
    count: (word, n) =>
      say((plural.select(n) === "one" ? `${word}_one` : `${word}_other`) as W, { n: number.format(n) }),
    date: (rfc3339) => {
      const time = Date.parse(rfc3339);
      return Number.isNaN(time) ? rfc3339 : new Intl.DateTimeFormat(lang, { dateStyle: "long" }).format(time);
    },
  };
}

/** The texts of the bundle's own language that have been loaded so far. */
const loaded = { ...first } as Words;

/** The bundle's own language. */
export const native = language(ownLang, loaded);

/** Adds texts to the bundle's own language, and returns the language. */
export function extend<W extends string>(texts: Record<W, string>): Language<Word | W> {
  Object.assign(loaded, texts);
  return native as Language<Word | W>;
}
