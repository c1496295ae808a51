/** The elements' own words. The pages in the elements' frames have separate words (kit/words). */
const WORDS = {
  en: {
    title: "Share Records",
    close: "Close",
    failed: "This page didn’t load.",
    network: "Check your internet connection.",
    retry: "Try again",
  },
  es: {
    title: "Compartir registros",
    close: "Cerrar",
    failed: "Esta página no se cargó.",
    network: "Revise su conexión a internet.",
    retry: "Intentar de nuevo",
  },
};

export type Words = (typeof WORDS)["en"];

/** Returns the page's language, nearest ancestor first; "" if there is none. */
export const languageOf = (element: HTMLElement): string =>
  element.closest<HTMLElement>("[lang]")?.lang ?? document.documentElement.lang;

/** Returns the words for a language tag. If the tag is empty, returns the words for the browser's language. */
export const wordsIn = (lang: string): Words => (/^es\b/i.test(lang || navigator.language) ? WORDS.es : WORDS.en);

export const wordsOf = (element: HTMLElement): Words => wordsIn(languageOf(element));
