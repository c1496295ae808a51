/** What a mode of the element has beside the ordinary way. It is in a file of its own, which only elements in that mode load (docs/adr/0035-the-widget.md). */
import type { JSX } from "preact";
import type { Lang, Language } from "../../kit/words/language.ts";
import type { More } from "../machine/run.ts";
import type { State, View } from "../machine/state.ts";
import type { Ui } from "./ui.ts";

export type Screen = (props: { ui: Ui }) => JSX.Element | null;

export interface Mode {
  step: More;
  /** Those that are not as in the ordinary way. */
  views: Partial<Record<View, Screen>>;
  /** As step.ts has it. */
  behind(s: State): View | undefined;
  /** What a screen reader says although the focus has not moved; empty for nothing. */
  aloud(ui: Ui): string;
  /** What is lost by closing now; undefined where that is a window alone. */
  lost(ui: Ui): string | undefined;
  load(lang: Lang): Promise<Language>;
}
