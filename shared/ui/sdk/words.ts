/** Words of the elements themselves. The pages in their frames have their own (kit/words). */
const WORDS = {
  en: {
    title: "Share Records",
    close: "Close",
    failed: "This is taking too long. Check your internet connection.",
    retry: "Try again",
    unusable: "You can’t connect health records here right now.",
  },
  es: {
    title: "Compartir registros",
    close: "Cerrar",
    failed: "Está tardando demasiado. Revise su conexión a internet.",
    retry: "Intentar de nuevo",
    unusable: "Ahora no puede conectar registros médicos aquí.",
  },
};

export type Words = (typeof WORDS)["en"];

/** Returns the words for a language tag, or for the browser's language if the tag is empty. */
export const wordsIn = (lang: string): Words => (/^es\b/i.test(lang || navigator.language) ? WORDS.es : WORDS.en);
