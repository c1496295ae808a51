/** Shows the progress of the network query. */
import type { Words } from "../../../kit/words/tefca.ts";
import type { Facility } from "../../api/records.ts";
import { found } from "../../machine/facilities.ts";
import type { State } from "../../machine/state.ts";
import type { Ui } from "../ui.ts";

/** Returns the number of facilities that have responded, including ambiguous matches. */
export function answers({ s, t }: Ui<Words>): string {
  const n = s.tefca?.standing?.facilities.filter(({ match }) => match !== "unanswered").length ?? 0;
  return n > 0 ? t.count("tefca_answered", n) : t.say("tefca_answered_none");
}

/** Returns the chosen facilities with their results. */
export const chosen = (s: State): Facility[] => found(s).filter(({ outcome }) => outcome !== undefined);

export function settled({ s, t }: Ui<Words>): string {
  const all = chosen(s);
  return t.say("tefca_settled", {
    n: String(all.filter(({ outcome }) => outcome !== "connecting").length),
    all: String(all.length),
  });
}
