/** The languages there are, and how their words are filled in. Each has a bundle (build.mjs), in which its words are, so that there always are some. */
import * as own from "#words/own";
import type { Words } from "./en.ts";

export type Lang = "en" | "es";
export type Word = keyof Words;

/** What has a singular and a plural. */
type Counted<W extends string> = W extends `${infer Stem}_one` ? Stem : never;

/** What may stand for a placeholder in text. */
export type Values = Record<string, string>;

/** A language, ready to be spoken. A mode may have words of its own beside those of all. */
export interface Language<W extends string = Word> {
  lang: Lang;
  say(word: W, values?: Values): string;
  /** The text around its placeholders: strings at even places, names of placeholders at odd ones. */
  parts(word: W): string[];
  count(word: Counted<W>, n: number): string;
  date(rfc3339: string): string;
}

/** The first of the wanted languages that there is. */
export function choose(...wanted: (string | undefined | null)[]): Lang {
  for (const tag of wanted) {
    const lang = tag?.toLowerCase().split("-")[0];
    if (lang === "en" || lang === "es") return lang;
  }
  return "en";
}

/** A language that cannot be loaded is no reason to show nothing. */
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
  const say = (word: W, values: Values = {}): string => words[word].replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
  return {
    lang,
    say,
    parts: (word) => words[word].split(/\{(\w+)\}/),
    // Spanish has a form for millions that no count here needs.
    count: (word, n) => say((plural.select(n) === "one" ? `${word}_one` : `${word}_other`) as W, { n: number.format(n) }),
    date: (rfc3339) => {
      const time = Date.parse(rfc3339);
      return Number.isNaN(time) ? rfc3339 : new Intl.DateTimeFormat(lang, { dateStyle: "long" }).format(time);
    },
  };
}

/** The bundle's. */
export const native = language(own.lang, own.words);
