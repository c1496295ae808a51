/** Progress of the network, and its result. */
import type { Words } from "../../../kit/words/tefca.ts";
import { isAlive, open } from "../../machine/facilities.ts";
import { Made } from "../outcome.tsx";
import { Button, Title, Trouble } from "../parts.tsx";
import { orgName, type Ui } from "../ui.ts";
import { Place, stateOf } from "./facilities.tsx";
import { Unreachable } from "./identity.tsx";
import { answers, chosen, settled } from "./progress.ts";

export function Locating({ ui }: { ui: Ui<Words> }) {
  const { t } = ui;
  return (
    <div class="view">
      <Title lead={t.say("tefca_locating_lead")}>{t.say("tefca_locating_title")}</Title>
      <p class="pulse">
        <i aria-hidden="true" />
        {answers(ui)}
      </p>
      <Unreachable ui={ui} />
    </div>
  );
}

export function Connecting({ ui }: { ui: Ui<Words> }) {
  const { s, t } = ui;
  return (
    <div class="view">
      <Title lead={t.say("tefca_connecting_lead")}>{t.say("tefca_connecting_title")}</Title>
      <p class="pulse">
        <i aria-hidden="true" />
        {settled(ui)}
      </p>
      <Unreachable ui={ui} />
      <ul class="list">
        {chosen(s).map((one) => (
          <li key={one.tefca_directory_id}>
            <Place one={one} state={stateOf(ui, one)} />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Connections of this visit, and failures of the last choice. */
export function Summary({ ui }: { ui: Ui<Words> }) {
  const { s, t, send } = ui;
  const n = s.connected.length;
  const failed = chosen(s).filter(({ outcome }) => outcome === "failed");
  const ids = failed.map((one) => one.tefca_directory_id);
  const more = open(s).length > ids.length;
  return (
    <div class="view">
      <Title
        {...(n > 0
          ? { mark: "check" as const, tone: "good" as const, lead: t.say("finish_lead", { org: orgName(ui) }) }
          : {})}
      >
        {n > 0 ? t.count("finish_title", n) : t.say("finish_none")}
      </Title>
      {n > 0 && <Made ui={ui} />}
      {failed.length > 0 && (
        <section class="stack" aria-labelledby="failed">
          <h2 id="failed">{t.say("tefca_failed")}</h2>
          <ul class="list">
            {failed.map((one) => (
              <li key={one.tefca_directory_id}>
                <Place one={one} state={stateOf(ui, one)} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {!isAlive(s) && open(s).length > 0 && <p class="notice">{t.say("tefca_ended")}</p>}
      <Trouble ui={ui} />
      <div class="stack end">
        <Button second={n === 0} onClick={() => send({ type: "close_now" })}>
          {t.say("done")}
        </Button>
        {isAlive(s) && failed.length > 0 && (
          <Button second={n > 0} disabled={s.busy} onClick={() => send({ type: "authorize", ids })}>
            {t.say(s.busy ? "preparing" : "tefca_retry")}
          </Button>
        )}
        {isAlive(s) && more && (
          <Button second onClick={() => send({ type: "choose" })}>
            {t.say("tefca_more")}
          </Button>
        )}
        {!isAlive(s) && open(s).length > 0 && (
          <Button second onClick={() => send({ type: "restart" })}>
            {t.say("tefca_again")}
          </Button>
        )}
      </div>
    </div>
  );
}
