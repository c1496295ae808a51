/** The view that is shown while the patient signs in at the portal in another window. */
import { currentAttempt, isGone } from "../machine/attempting.ts";
import type { State } from "../machine/state.ts";
import { Again, Button, Pair, Quiet, Title } from "./parts.tsx";
import { institutionName, type Ui } from "./ui.ts";

export function Waiting({ ui }: { ui: Ui }) {
  const { s, t, send } = ui;
  const { a, left, gone } = windowOf(s);
  return (
    <div class="view">
      <Pair ui={ui} name={institutionName(ui)} logo={s.institution?.logo ?? ""} />
      <Title lead={t.say("waiting_lead", { name: institutionName(ui) })}>{t.say("waiting_title")}</Title>
      <p class="pulse">
        <i aria-hidden="true" />
        {t.say(left && !gone ? "waiting_noticed" : "waiting")}
      </p>
      {a && a.misses > 1 && (
        <div class="notice warn">
          <p>{t.say("waiting_unreachable")}</p>
        </div>
      )}
      {a?.cookieless && (
        <div class="notice warn">
          <p>{t.say("waiting_cookies")}</p>
        </div>
      )}
      {gone && !a?.cookieless && (
        <div class="notice">
          <p>{t.say("waiting_closed")}</p>
        </div>
      )}
      {a && !left && (
        <Again start={a.start} t={t} onClick={() => send({ type: "followed" })}>
          {t.say("waiting_open")}
        </Again>
      )}
      <Elsewhere ui={ui} />
    </div>
  );
}

/** Returns the attempt, whether its page was opened, and whether its window is gone. */
export function windowOf(s: State) {
  const a = currentAttempt(s);
  return { a, left: a?.status === "open", gone: a?.how === "seen" && isGone(s, a) };
}

/** Buttons for the window. */
export function Elsewhere({ ui: { s, t, send } }: { ui: Ui }) {
  const { a, left, gone } = windowOf(s);
  return (
    <div class="stack end">
      {(left || gone) && (
        <Button second onClick={() => send({ type: "raise" })}>
          {t.say(gone || a?.how !== "seen" ? "waiting_reopen" : "waiting_show")}
        </Button>
      )}
      <Quiet onClick={() => send({ type: "cancel" })}>{t.say("cancel")}</Quiet>
    </div>
  );
}
