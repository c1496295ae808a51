/** All patient texts in English, except those of TEFCA mode. */
import { words as first } from "./first-en.ts";
import { words as later } from "./later-en.ts";

export { lang } from "./first-en.ts";

export const words = { ...first, ...later };

export type Words = Record<keyof typeof words, string>;
