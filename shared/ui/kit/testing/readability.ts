/** Readability formulas for texts in English and Spanish, and syllable counters for the formulas. */

const vowels = { en: /[aeiouy]+/g, es: /[aeiouáéíóúü]/g };

/** Splits a text into words. A number counts as one word. */
export const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}]+(?:['’.@][\p{L}\p{N}]+)*/gu) ?? [];

/** Counts sentences. A text without a full stop, such as a title, is one sentence. */
export const sentencesOf = (text: string): number =>
  Math.max(1, text.split(/[.!?…]+(?:\s|$)/).filter((part) => wordsOf(part).length > 0).length);

/** Counts the syllables of an English word by its groups of vowels. */
export function englishSyllables(word: string): number {
  const lower = word.toLowerCase().replace(/[’'](s|m|re|ve|ll|d)$/, "");
  const isSilent = /[^aeiouy]e$/.test(lower) && !/[^aeiouy]le$/.test(lower); // matches "make", but not "table"
  const isSilentEd = /[^aeioutd]ed$/.test(lower); // matches "shared", but not "started"
  const isSilentEs = /[^aeiouscgxzh]es$|[^aeiou][^aeioucgszx]les$/.test(lower); // matches "files", but not "places"
  const split = (lower.match(/i[ao](?!us)|eo|ua(?!r)|uing|ying|[aeio]ing$/g) ?? []).filter(
    (pair) => !/^i[ao]$/.test(pair) || !/[tsc]i[ao]/.test(lower),
  ).length;
  const isSilentAl = /ically$/.test(lower);
  const contraction = /[sd]n[’']t$/.test(lower) ? 1 : 0; // matches "didn't" and "isn't"
  const groups = lower.match(vowels.en)?.length ?? 0;
  return Math.max(1, groups - (isSilent || isSilentEd || isSilentEs || isSilentAl ? 1 : 0) + split + contraction);
}

/** Counts the syllables of a Spanish word: the number of its vowels, minus one for each diphthong. */
export function spanishSyllables(word: string): number {
  const lower = word
    .toLowerCase()
    .replace(/qu|gu(?=[eiéí])/g, "g")
    .replace(/y$/, "i");
  const diphthongs = lower.match(/[aeoáéó][iu](?![íú])|[iuü][aeoáéó]|[iu][uiúí]/g)?.length ?? 0;
  return Math.max(1, (lower.match(vowels.es)?.length ?? 0) - diphthongs);
}

const sum = (numbers: number[]): number => numbers.reduce((total, n) => total + n, 0);

/** Returns the Flesch-Kincaid grade of an English text: the years of school that a reader needs. */
export function grade(...texts: string[]): number {
  const words = texts.flatMap(wordsOf);
  return (
    (0.39 * words.length) / sum(texts.map(sentencesOf)) +
    (11.8 * sum(words.map(englishSyllables))) / words.length -
    15.59
  );
}

/** Returns the Flesch-Szigriszt perspicuity of a Spanish text. On the INFLESZ scale, 65 to 80 means "quite easy". */
export function inflesz(...texts: string[]): number {
  const words = texts.flatMap(wordsOf);
  return (
    206.835 - (62.3 * sum(words.map(spanishSyllables))) / words.length - words.length / sum(texts.map(sentencesOf))
  );
}
