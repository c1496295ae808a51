/** Adds the texts of the views after the search to the bundle's own language. Both files that load later import this module. */
import { words } from "#words/later";
import { extend } from "./language.ts";

extend(words);
