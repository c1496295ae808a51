/** The frame around every view: organisation, back, help and announcements. */
import { Fragment } from "preact";
import { behind, wouldLose } from "../machine/step.ts";
import type { State, View } from "../machine/state.ts";
import type { Mode, Screen } from "./mode.ts";
import { Code, Email, Splash } from "./begin.tsx";
import { Icon } from "./icons.tsx";
import { Institution } from "./institution.tsx";
import { Connected, Failed, Finish } from "./outcome.tsx";
import { Button, drop, isHttps, Out, Quiet, Title, Trouble } from "./parts.tsx";
import { Missing, Support } from "./requests.tsx";
import { Search } from "./search.tsx";
import type { Ui } from "./ui.ts";
import { Waiting } from "./waiting.tsx";

const views: Record<View, Screen> = {
  loading: Loading,
  splash: Splash,
  email: Email,
  code: Code,
  search: Search,
  institution: Institution,
  waiting: Waiting,
  stopping: Stopping,
  locating: Loading, // this and the next three belong to a mode
  facilities: Loading,
  connecting: Loading,
  summary: Loading,
  connected: Connected,
  failed: Failed,
  finish: Finish,
  missing: Missing,
  support: Support,
  config_error: ConfigError,
  closed: Closed,
};

/** Returns a key for the view. A new key renders the view from scratch and focuses its title. */
export function placeOf(s: State): string {
  return [s.view, s.sent, s.view === "institution" && s.portalId, s.view === "institution" && !s.target].join();
}

export function App({ ui, mode, onLanguage }: { ui: Ui; mode?: Mode | undefined; onLanguage: () => void }) {
  const { s, t, send } = ui;
  const Current = mode?.views[s.view] ?? views[s.view];
  return (
    <div class="shell">
      <Head ui={ui} hasBack={(mode?.behind ?? behind)(s) !== undefined} />
      {s.mode === "test" && <aside class="banner">{t.say("test_mode")}</aside>}
      <div role="status">{!s.online && <p class="banner">{t.say("offline")}</p>}</div>
      <main class="main">
        <Fragment key={placeOf(s)}>
          <Current ui={ui} />
        </Fragment>
      </main>
      <Aloud ui={ui} extra={mode?.aloud(ui)} />
      <footer class="foot">
        {s.view !== "support" && s.view !== "config_error" ? <Quiet onClick={() => send({ type: "show", view: "support" })}>{t.say("help")}</Quiet> : <span />}
        <button class="quiet" type="button" lang={t.lang === "en" ? "es" : "en"} onClick={onLanguage}>
          {t.say("language")}
        </button>
      </footer>
      {s.leaving && <Leaving ui={ui} lost={mode?.lost(ui)} />}
    </div>
  );
}

function Head({ ui, hasBack }: { ui: Ui; hasBack: boolean }) {
  const { s, t, send } = ui;
  const logo = s.org?.logo_uri ?? "";
  return (
    <header class="head">
      {hasBack && (
        <button class="square" type="button" aria-label={t.say("back")} onClick={() => send({ type: "back" })}>
          <Icon name="back" />
        </button>
      )}
      <p class="who">
        {isHttps(logo) && <img src={logo} alt="" referrerPolicy="no-referrer" onError={drop} />}
        <span>{s.org?.name}</span>
      </p>
      {s.shell === "direct" && (
        <button class="square end" type="button" aria-label={t.say("close")} onClick={() => send({ type: "close" })}>
          <Icon name="cross" />
        </button>
      )}
    </header>
  );
}

/** The only polite live region: announces changes without moving the focus. */
function Aloud({ ui: { s, t }, extra }: { ui: Ui; extra: string | undefined }) {
  const { loading, total, more } = s.search;
  const searched = s.view === "search" && !loading && !more && total !== undefined;
  const said = searched ? t.count("found", total) : s.view === "institution" && s.busy ? t.say("preparing") : "";
  return (
    <p class="hidden" role="status">
      {said || extra}
    </p>
  );
}

function Loading({ ui }: { ui: Ui }) {
  if (ui.s.trouble) return <Unloaded ui={ui} />;
  return (
    <div aria-busy="true">
      <div class="bone" />
      <div class="bone" />
      <div class="bone" />
    </div>
  );
}

/** Shown if the mode's chunk failed to load. */
function Unloaded({ ui }: { ui: Ui }) {
  return (
    <div class="view">
      <Title>{ui.t.say("preparing")}</Title>
      <Trouble ui={ui} />
    </div>
  );
}

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
function Leaving({ ui: { s, t, send }, lost }: { ui: Ui; lost: string | undefined }) {
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
