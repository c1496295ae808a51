/** Properties that every view receives, and the names that texts contain. */
import type { JSX } from "preact";
import type { Language, Word } from "../../kit/words/language.ts";
import type { Message } from "../machine/message.ts";
import type { State, View } from "../machine/state.ts";

export type Screen = (props: { ui: Ui }) => JSX.Element | null;

/** Components that the first view doesn't need, in a file that loads after the first view. */
export interface Rest {
  views: Partial<Record<View, Screen>>;
  Leaving(props: { ui: Ui; lost: string | undefined }): JSX.Element;
  Places(props: { ui: Ui }): JSX.Element; // the filter of the search
}

export interface Ui<W extends string = Word> {
  s: State;
  t: Language<W>;
  send(message: Message): void;
  rest: Rest | undefined; // undefined until the file has loaded
}

export function orgName({ s, t }: Ui): string {
  return s.org?.name || t.say("this_app");
}

/** Returns the name of the current view's institution. */
export function institutionName({ s, t }: Ui): string {
  return s.target?.name || s.institution?.name || s.ending?.target.name || t.say("your_hospital");
}
