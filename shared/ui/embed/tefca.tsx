/**
 * TEFCA mode (mode.ts). It imports main.tsx so that all of the application is in one file, which page and mode share: what only one of two files needs would
 * otherwise be in a third (build.mjs).
 */
import "./main.tsx";

export { load } from "../kit/words/tefca.ts";
export { behind, step } from "./machine/tefca.ts";
export { aloud, lost, views } from "./views/tefca/views.tsx";
