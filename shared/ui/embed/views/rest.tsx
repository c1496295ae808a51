/** The views after the search, in a file that loads after the first view (docs/adr/0035-the-widget.md). */
import type { View } from "../machine/state.ts";
import { wouldLose } from "../machine/step.ts";
import { Institution } from "./institution.tsx";
import { Connected, Failed, Finish } from "./outcome.tsx";
import { Button, isHttps, Out, Title } from "./parts.tsx";
import { Missing, Support } from "./requests.tsx";
import type { Screen, Ui } from "./ui.ts";
import { Waiting } from "./waiting.tsx";

export { Places } from "./places.tsx";

export const views: Partial<Record<View, Screen>> = {
  institution: Institution,
  waiting: Waiting,
  stopping: Stopping,
  connected: Connected,
  failed: Failed,
  finish: Finish,
  missing: Missing,
  support: Support,
  config_error: ConfigError,
  closed: Closed,
};

function ConfigError({ ui }: { ui: Ui }) {
  const { s, t, send } = ui;
  const site = s.org?.website_uri ?? "";
  const org = s.org?.name || t.say("config_owner");
  return (
    <div class="view">
      <Title mark="cross" tone="bad" lead={t.say("config_text", { org })}>
        {t.say("config_title")}
      </Title>
      {isHttps(site) && (
        <Out href={site} t={t} class="button second">
          {t.say("config_visit", { org })}
        </Out>
      )}
      {s.shell === "frame" && <Button onClick={() => send({ type: "close_now" })}>{t.say("close")}</Button>}
      {s.mode === "test" && <p class="small soft">{s.configError?.reason}</p>}
      {s.configError?.requestId && (
        <p class="small soft">
          {t.say("reference")}: {s.configError.requestId}
        </p>
      )}
    </div>
  );
}

/** Shown while the server confirms a cancellation. */
function Stopping({ ui: { t } }: { ui: Ui }) {
  return (
    <div class="view" aria-busy="true">
      <Title>{t.say("stopping")}</Title>
    </div>
  );
}

function Closed({ ui: { t } }: { ui: Ui }) {
  return (
    <div class="view">
      <Title mark="check" tone="good">
        {t.say("closed")}
      </Title>
    </div>
  );
}

function open(dialog: HTMLDialogElement | null): void {
  if (dialog && !dialog.open) dialog.showModal();
}

/** Asks before abandoning an open sign-in, or text that the browser can't keep. */
export function Leaving({ ui: { s, t, send }, lost }: { ui: Ui; lost: string | undefined }) {
  const kind = lost === undefined && wouldLose(s) && s.view !== "waiting" ? "losing" : "leaving";
  return (
    <dialog ref={open} aria-labelledby="leaving" onClose={() => send({ type: "stay" })}>
      <div class="view">
        <div class="title">
          <h2 id="leaving">{t.say(`${kind}_title`)}</h2>
          <p class="soft">{lost ?? t.say(`${kind}_text`)}</p>
        </div>
        <div class="stack">
          <Button onClick={() => send({ type: "stay" })}>{t.say(kind === "losing" ? "losing_stay" : "stay")}</Button>
          <Button second onClick={() => send({ type: "close_now" })}>
            {t.say(kind === "losing" ? "losing_leave" : "leave")}
          </Button>
        </div>
      </div>
    </dialog>
  );
}
