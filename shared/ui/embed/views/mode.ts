/** A mode's extension of the application. Only elements in that mode load the extension's file (docs/adr/0035-the-widget.md). */
import type { Lang, Language } from "../../kit/words/language.ts";
import type { More } from "../machine/run.ts";
import type { State, View } from "../machine/state.ts";
import type { Screen, Ui } from "./ui.ts";

export interface Mode {
  step: More;
  /** Views that differ from the ordinary ones. */
  views: Partial<Record<View, Screen>>;
  /** Returns the view behind the current view, as in step.ts. */
  behind(s: State): View | undefined;
  /** The text to announce without moving the focus. An empty text announces nothing. */
  aloud(ui: Ui): string;
  /** Describes what closing now would lose. undefined means that only a window would close. */
  lost(ui: Ui): string | undefined;
  load(lang: Lang): Promise<Language>;
}
