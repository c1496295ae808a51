/** All patient texts in Spanish, except those of TEFCA mode. */
import type { Words } from "./en.ts";
import { words as first } from "./first-es.ts";
import { words as later } from "./later-es.ts";

export { lang } from "./first-es.ts";

export const words: Words = { ...first, ...later };
