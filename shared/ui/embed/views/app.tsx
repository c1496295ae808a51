/** The frame around every view: organisation, back, help and announcements. */
import { Fragment } from "preact";
import { behind } from "../machine/step.ts";
import type { State, View } from "../machine/state.ts";
import type { Mode } from "./mode.ts";
import { Code, Email, Splash } from "./begin.tsx";
import { Icon } from "./icons.tsx";
import { drop, isHttps, Quiet, Title, Trouble } from "./parts.tsx";
import { Search } from "./search.tsx";
import type { Rest, Screen, Ui } from "./ui.ts";

/** The first views. A separate file with all other views loads meanwhile. */
const views: Partial<Record<View, Screen>> = {
  loading: Loading,
  splash: Splash,
  email: Email,
  code: Code,
  search: Search,
};

/** Reports whether a view can be shown. */
export function canShow(view: View, rest: Rest | undefined, mode: Mode | undefined): boolean {
  return (mode?.views[view] ?? views[view] ?? rest?.views[view]) !== undefined;
}

/** Returns a key for the view. A new key renders the view from scratch and focuses its title. */
export function placeOf(s: State): string {
  return [s.view, s.sent, s.view === "institution" && s.portalId, s.view === "institution" && !s.target].join();
}

interface Props {
  ui: Ui;
  mode: Mode | undefined;
  onLanguage(): void;
}

export function App({ ui, mode, onLanguage }: Props) {
  const { s, t, send, rest } = ui;
  const Current = mode?.views[s.view] ?? views[s.view] ?? rest?.views[s.view] ?? Loading;
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
        {s.view !== "support" && s.view !== "config_error" ? (
          <Quiet onClick={() => send({ type: "show", view: "support" })}>{t.say("help")}</Quiet>
        ) : (
          <span />
        )}
        <button class="quiet" type="button" lang={t.lang === "en" ? "es" : "en"} onClick={onLanguage}>
          {t.say("language")}
        </button>
      </footer>
      {s.leaving && rest && <rest.Leaving ui={ui} lost={mode?.lost(ui)} />}
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

/** Shown if a view's file failed to load. */
function Unloaded({ ui }: { ui: Ui }) {
  return (
    <div class="view">
      <Title>{ui.t.say("preparing")}</Title>
      <Trouble ui={ui} />
    </div>
  );
}
