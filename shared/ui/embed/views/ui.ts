/** Properties of every view, and the names that texts contain. */
import type { Language, Word } from "../../kit/words/language.ts";
import type { Message } from "../machine/message.ts";
import type { State } from "../machine/state.ts";

export interface Ui<W extends string = Word> {
  s: State;
  t: Language<W>;
  send(message: Message): void;
}

export function orgName({ s, t }: Ui): string {
  return s.org?.name || t.say("this_app");
}

/** Returns the name of the view's institution. */
export function institutionName({ s, t }: Ui): string {
  return s.target?.name || s.institution?.name || s.ending?.target.name || t.say("your_hospital");
}
