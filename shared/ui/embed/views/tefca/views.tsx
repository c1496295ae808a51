/** The views of TEFCA mode and their announcements. */
import type { Words } from "../../../kit/words/tefca.ts";
import type { View } from "../../machine/state.ts";
import { orgName, type Screen, type Ui } from "../ui.ts";
import { Connecting, Locating, Summary } from "./asking.tsx";
import { Facilities } from "./facilities.tsx";
import { Failed, Intro, Provider, Verifying } from "./identity.tsx";
import { answers, settled } from "./progress.ts";

export const views: Partial<Record<View, Screen>> = {
  splash: Intro,
  institution: Provider,
  waiting: Verifying,
  failed: Failed,
  locating: Locating,
  facilities: Facilities,
  connecting: Connecting,
  summary: Summary,
};

export function aloud(ui: Ui<Words>): string {
  if (ui.s.view === "locating") return answers(ui);
  return ui.s.view === "connecting" ? settled(ui) : "";
}

export function lost(ui: Ui<Words>): string | undefined {
  if (ui.s.view === "locating") return ui.t.say("tefca_leaving_locating");
  return ui.s.view === "waiting" ? undefined : ui.t.say("tefca_leaving_connecting", { org: orgName(ui) });
}
