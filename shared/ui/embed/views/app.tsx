/** The frame around every view: who asks, the way back, help in the same place, what is said aloud. */
import { Fragment, type JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { behind } from "../machine/step.ts";
import type { View } from "../machine/state.ts";
import { Code, Email, Splash } from "./begin.tsx";
import { Icon } from "./icons.tsx";
import { Institution } from "./institution.tsx";
import { Connected, Failed, Finish } from "./outcome.tsx";
import { Button, isHttps, Out, Quiet, Title } from "./parts.tsx";
import { Missing, Support } from "./requests.tsx";
import { Search } from "./search.tsx";
import type { Ui } from "./ui.ts";
import { Waiting } from "./waiting.tsx";

const views: Record<View, (props: { ui: Ui }) => JSX.Element | null> = {
  loading: Loading,
  splash: Splash,
  email: Email,
  code: Code,
  search: Search,
  institution: Institution,
  waiting: Waiting,
  connected: Connected,
  failed: Failed,
  finish: Finish,
  missing: Missing,
  support: Support,
  config_error: ConfigError,
  closed: Closed,
};

export function App({ ui, onLanguage }: { ui: Ui; onLanguage: () => void }) {
  const { s, t, send } = ui;
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  const place = `${s.view} ${s.sent} ${s.view === "institution" && (s.portalId ?? "")}`;
  useLayoutEffect(() => {
    const title = main.current?.querySelector("h1");
    if (!title) return; // the skeleton
    // The page that opened the frame has put the focus where it belongs for the first view.
    if (!first.current) title.focus({ preventScroll: true });
    if (!first.current) scrollTo(0, 0);
    first.current = false;
  }, [place]);
  const Current = views[s.view];
  return (
    <div class="shell">
      <Head ui={ui} />
      {s.mode === "test" && <p class="banner">{t.say("test_mode")}</p>}
      <div role="status">{!s.online && <p class="banner">{t.say("offline")}</p>}</div>
      <main class="main" ref={main}>
        <Fragment key={place}>
          <Current ui={ui} />
        </Fragment>
      </main>
      <Aloud ui={ui} />
      <footer class="foot">
        {s.view !== "support" && s.view !== "config_error" ? <Quiet onClick={() => send({ type: "show", view: "support" })}>{t.say("help")}</Quiet> : <span />}
        <button class="quiet" type="button" lang={t.lang === "en" ? "es" : "en"} onClick={onLanguage}>
          {t.say("language")}
        </button>
      </footer>
      {s.leaving && <Leaving ui={ui} />}
    </div>
  );
}

function Head({ ui }: { ui: Ui }) {
  const { s, t, send } = ui;
  const logo = s.org?.logo_uri ?? "";
  return (
    <header class="head">
      {behind(s) !== undefined && (
        <button class="square" type="button" aria-label={t.say("back")} onClick={() => send({ type: "back" })}>
          <Icon name="back" />
        </button>
      )}
      <p class="who">
        {isHttps(logo) && <img src={logo} alt="" referrerPolicy="no-referrer" onError={(event) => event.currentTarget.remove()} />}
        <span>{s.org?.name}</span>
      </p>
    </header>
  );
}

/** The one polite region: what changes without the focus moving. */
function Aloud({ ui: { s, t } }: { ui: Ui }) {
  const { loading, total, more } = s.search;
  const searched = s.view === "search" && !loading && !more && total !== undefined;
  const said = searched ? t.count("found", total) : s.view === "institution" && s.busy ? t.say("preparing") : "";
  return (
    <p class="hidden" role="status">
      {said}
    </p>
  );
}

function Loading() {
  return (
    <div aria-busy="true">
      <div class="bone" />
      <div class="bone" />
      <div class="bone" />
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
      {s.configErrorId && (
        <p class="small soft">
          {t.say("reference")}: {s.configErrorId}
        </p>
      )}
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

/** Asked before an open sign-in is left behind. */
function Leaving({ ui: { t, send } }: { ui: Ui }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="leaving" onClose={() => send({ type: "stay" })}>
      <div class="view">
        <div class="title">
          <h2 id="leaving">{t.say("leaving_title")}</h2>
          <p class="soft">{t.say("leaving_text")}</p>
        </div>
        <div class="stack">
          <Button onClick={() => send({ type: "stay" })}>{t.say("stay")}</Button>
          <Button second onClick={() => send({ type: "close_now" })}>
            {t.say("leave")}
          </Button>
        </div>
      </div>
    </dialog>
  );
}
