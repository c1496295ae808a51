/** A mode's extension of the application, in a file that only elements in that mode load (docs/adr/0035-the-widget.md). */
import type { Lang, Language } from "../../kit/words/language.ts";
import type { More } from "../machine/run.ts";
import type { State, View } from "../machine/state.ts";
import type { Screen, Ui } from "./ui.ts";

export interface Mode {
  step: More;
  /** Views that differ from the ordinary ones. */
  views: Partial<Record<View, Screen>>;
  /** As in step.ts. */
  behind(s: State): View | undefined;
  /** Text to announce without moving the focus; empty for none. */
  aloud(ui: Ui): string;
  /** What closing now would lose; undefined for just a window. */
  lost(ui: Ui): string | undefined;
  load(lang: Lang): Promise<Language>;
}
