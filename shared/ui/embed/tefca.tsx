/** TEFCA mode (views/mode.ts), which the build writes to a separate file (build.mjs). */
export { load } from "../kit/words/tefca.ts";
export { behind, step } from "./machine/tefca.ts";
export { aloud, lost, views } from "./views/tefca/views.tsx";
