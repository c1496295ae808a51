/** The steps before the network query: the introduction, the provider, and the identity check's window. */
import type { Word } from "../../../kit/words/language.ts";
import type { Words } from "../../../kit/words/tefca.ts";
import { currentAttempt } from "../../machine/attempting.ts";
import { Agree, Points } from "../begin.tsx";
import { Icon, type IconName } from "../icons.tsx";
import { Consent, Steps } from "../institution.tsx";
import { Details } from "../outcome.tsx";
import { Again, Button, Logo, Pair, Quiet, Title, Trouble } from "../parts.tsx";
import { orgName, type Ui } from "../ui.ts";
import { Elsewhere, windowOf } from "../waiting.tsx";

const points: [IconName, Words, Words][] = [
  ["check", "tefca_once", "tefca_once_text"],
  ["search", "tefca_asked", "tefca_asked_text"],
  ["list", "splash_shared", "tefca_shared_text"],
  ["hand", "splash_stop", "tefca_stop_text"],
];

export function Intro({ ui }: { ui: Ui<Words> }) {
  const { t } = ui;
  return (
    <div class="view">
      <Title lead={t.say("tefca_intro_lead", { org: orgName(ui) })}>{t.say("tefca_intro_title")}</Title>
      <Points ui={ui} points={points} />
      <Simulated ui={ui} />
      <Agree ui={ui} />
    </div>
  );
}

function Simulated({ ui: { s, t } }: { ui: Ui<Words> }) {
  return <>{s.tefca?.simulated && <p class="notice">{t.say("tefca_simulated")}</p>}</>;
}

export function Provider({ ui }: { ui: Ui<Words> }) {
  const { s, t } = ui;
  if (s.target) return <Ready ui={ui} name={s.target.name} />;
  if (s.tefca?.providers) return <Providers ui={ui} />;
  return (
    <div class="view" aria-busy={s.busy}>
      <Title>{t.say("preparing")}</Title>
      <Trouble ui={ui} />
    </div>
  );
}

function Providers({ ui: { s, t, send } }: { ui: Ui<Words> }) {
  return (
    <div class="view">
      <Title lead={t.say("tefca_provider_lead")}>{t.say("tefca_provider_title")}</Title>
      <ul class="list">
        {s.tefca?.providers?.map(({ id, name }) => (
          <li key={id}>
            <button class="choice" type="button" onClick={() => send({ type: "provider", id })}>
              <Logo src="" name={name} />
              <span>
                <b>{name}</b>
              </span>
              <Icon name="next" />
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Ready({ ui, name }: { ui: Ui<Words>; name: string }) {
  const { s, t, send } = ui;
  const steps = (["tefca_next_window", "tefca_next_prove", "tefca_next_find", "tefca_next_choose"] as const).map(
    (step) => t.say(step, { name }),
  );
  return (
    <div class="view">
      <Pair ui={ui} name={name} logo="" />
      <Title>{t.say("tefca_ready_title", { name })}</Title>
      <Simulated ui={ui} />
      <Steps ui={ui} steps={steps} />
      {(s.tefca?.providers?.length ?? 0) > 1 && (
        <div>
          <Quiet onClick={() => send({ type: "provider", id: undefined })}>{t.say("tefca_other")}</Quiet>
        </div>
      )}
      <Trouble ui={ui} />
      <div class="below stack">
        <Consent
          ui={ui}
          from={t.say("tefca_from")}
          what={t.say("tefca_shared_text")}
          long={t.say("tefca_long")}
          stop={t.say("tefca_stop_text", { org: orgName(ui) })}
        />
        <Button disabled={s.busy} onClick={() => send({ type: "leave" })}>
          {s.busy ? t.say("preparing") : t.say("tefca_go", { name })}
        </Button>
      </div>
    </div>
  );
}

export function Verifying({ ui }: { ui: Ui<Words> }) {
  const { s, t, send } = ui;
  const name = s.target?.name ?? "";
  const { a, left, gone } = windowOf(s);
  return (
    <div class="view">
      <Pair ui={ui} name={name} logo="" />
      <Title lead={t.say("tefca_waiting_lead", { name })}>{t.say("waiting_title")}</Title>
      <p class="pulse">
        <i aria-hidden="true" />
        {t.say(left && !gone ? "tefca_waiting_noticed" : "tefca_waiting", { name })}
      </p>
      <Unreachable ui={ui} />
      {gone && <p class="notice">{t.say("waiting_closed")}</p>}
      {a && !left && (
        <Again start={a.start} t={t} onClick={() => send({ type: "followed" })}>
          {t.say("tefca_waiting_open", { name })}
        </Again>
      )}
      {left && (
        <details>
          <summary>{t.say("tefca_cookies")}</summary>
          <p class="soft">{t.say("tefca_cookies_text")}</p>
        </details>
      )}
      <Elsewhere ui={ui} />
    </div>
  );
}

/** A warning that recent polls have failed. Polling continues. */
export function Unreachable({ ui: { s, t } }: { ui: Ui<Words> }) {
  return (
    <div role="alert">
      {(currentAttempt(s)?.misses ?? 0) > 1 && <p class="notice warn">{t.say("waiting_unreachable")}</p>}
    </div>
  );
}

type Kind = { title: Words; text: Words; icon?: IconName; hopeless?: true };

const plain = (kind: "unanswered" | "mistaken" | "ours" | "expired" | "lost", icon?: IconName): Kind => ({
  title: `${kind}_title`,
  text: `${kind}_text`,
  ...(icon && { icon }),
});
const declined: Kind = { title: "declined_title", text: "tefca_declined_text", icon: "hand" };
const unproven: Kind = { title: "tefca_unproven_title", text: "tefca_unproven_text" };
const incomplete: Kind = { title: "tefca_unproven_title", text: "tefca_incomplete_text" };
const unready: Kind = { title: "tefca_unready_title", text: "tefca_unready_text", hopeless: true };
const unanswered = plain("unanswered", "clock");

/** Views for causes, as in outcome.tsx for portals. */
const kinds: Record<string, Kind> = {
  declined,
  identity_expired: { title: "tefca_ended_title", text: "tefca_ended_text", icon: "clock" },
  level_too_low: unproven,
  identity_refused: unproven,
  demographics_missing: incomplete,
  provider_unavailable: unanswered,
  network_unavailable: { title: "tefca_network_title", text: "tefca_network_text", icon: "clock" },
  unavailable: unanswered,
  provider_refused: unready,
  client_unproven: unready,
  refused: unready,
  expired: plain("expired", "clock"),
  lost: plain("lost"),
  internal: plain("ours"),
};

/** A failed or expired identity check. */
export function Failed({ ui }: { ui: Ui<Words> }) {
  const { s, t, send } = ui;
  const name = s.ending?.target.name ?? "";
  const kind = kinds[s.ending?.cause ?? ""] ?? plain("mistaken");
  const again: Word | Words = s.ending?.cause === "identity_expired" ? "tefca_again" : "try_again";
  return (
    <div class="view">
      <Title
        mark={kind.icon ?? "cross"}
        {...(kind.icon ? {} : { tone: "bad" as const })}
        lead={t.say(kind.text, { name })}
      >
        {t.say(kind.title, { name })}
      </Title>
      {s.ending && <Details ui={ui} ending={s.ending} />}
      <div class="stack end">
        {!kind.hopeless && <Button onClick={() => send({ type: "prepare" })}>{t.say(again)}</Button>}
        {(s.tefca?.providers?.length ?? 0) > 1 && (
          <Button second onClick={() => send({ type: "restart" })}>
            {t.say("tefca_other")}
          </Button>
        )}
        {s.connected.length > 0 ? (
          <Button second onClick={() => send({ type: "close_now" })}>
            {t.say("done")}
          </Button>
        ) : (
          <Button second onClick={() => send({ type: "show", view: "support" })}>
            {t.say("help")}
          </Button>
        )}
      </div>
    </div>
  );
}
