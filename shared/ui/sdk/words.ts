/** What the elements themselves say. All else is said by our pages. */
const WORDS = {
  en: {
    title: "Share Records",
    close: "Close",
    failed: "This takes longer than it should. Is your connection working?",
    retry: "Try again",
    unusable: "Health records cannot be connected here at the moment.",
  },
  es: {
    title: "Compartir registros",
    close: "Cerrar",
    failed: "Esto tarda más de lo debido. ¿Funciona su conexión?",
    retry: "Intentar de nuevo",
    unusable: "Por el momento no se pueden conectar registros médicos aquí.",
  },
};

export type Words = (typeof WORDS)["en"];

/** Those of a language tag; of the browser's where it is empty. */
export const wordsIn = (lang: string): Words => (/^es\b/i.test(lang || navigator.language) ? WORDS.es : WORDS.en);
