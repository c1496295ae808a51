/** Mounts the application. Only this module and its sibling modules use window and document. */
import { render } from "preact";
import type { Config, FromFrame, Init, Watch } from "../kit/protocol.ts";
import { choose, load, native, type Language } from "../kit/words/language.ts";
import { api } from "./api/api.ts";
import { readBoot } from "./boot.ts";
import { tellBridges } from "./bridge.ts";
import { again, listen } from "./channel.ts";
import { directConfig, isDirect, tellHolder } from "./direct.ts";
import { dress } from "./dress.ts";
import { fragmentOf, hashOf, lacksOrigins, mayTake, noPopupMode, pageConfig } from "./given.ts";
import { Keep } from "./keep.ts";
import { refusal } from "./machine/events.ts";
import { kept, keptIn, ownerOf } from "./machine/keeping.ts";
import type { Own } from "./machine/message.ts";
import { run, type World } from "./machine/run.ts";
import { start, type Shell, type State } from "./machine/state.ts";
import { App, canShow, placeOf } from "./views/app.tsx";
import type { Mode } from "./views/mode.ts";
import type { Rest } from "./views/ui.ts";
import { watchWorld } from "./watch.ts";
import { Windows } from "./windows.ts";

const boot = readBoot(document);
const fragment = fragmentOf(location.hash);
const query = new URLSearchParams(location.search);
const shell: Shell = fragment ? "window" : boot.shell === "frame" && isDirect(query) ? "direct" : boot.shell;
const isFramed = shell === "frame" || shell === "direct";
const windows = new Windows(window);
const keep = new Keep(window);
let language: Language = native;
let mode: Mode | undefined;
let rest: Rest | undefined;
let hasRest = true; // false after rest.tsx has failed to load
let post: (message: FromFrame) => void = () => undefined;
let owner = "";
let chosen: string | undefined; // the language that the patient switched to
let place = "";
let judged = 0;

const world: World = {
  api: api({
    baseUrl: boot.base_url,
    publicId: boot.public_id,
    lang: () => language.lang,
    requestKey: crypto.getRandomValues(new Uint32Array(4)).join(),
    fetch: window.fetch.bind(window),
  }),
  now: () => Date.now(),
  setTimeout: (then, ms) => setTimeout(then, ms),
  clearTimeout: (timer) => clearTimeout(timer as number | undefined),
  open: (id, start) => windows.open(id, start),
  raise: (id) => windows.raise(id),
  shut: (id) => windows.shut(id),
  load: async () => {
    mode = await import("./tefca.tsx");
    language = await mode.load(language.lang);
    return mode.step;
  },
  reload: () => location.reload(),
  copy: async (text) => navigator.clipboard.writeText(text),
  go: (url) => windows.go(url),
  leave: (start) => windows.leave(start, fragment?.attempt_id),
  emit: (payload, reason) => {
    if (!isFramed) tellBridges(window, payload);
    else post(reason === undefined ? { type: "event", payload } : { type: "event", payload, reason });
  },
  result: (callback) => post({ type: "result", callback }),
  closed: () => (isFramed ? post({ type: "closed" }) : window.close()),
};

const redirectUri = boot.query.redirect_uri;
const org = boot.org ?? undefined;
const pages = {
  shell,
  mode: boot.api_mode,
  publicId: boot.public_id,
  baseUrl: boot.base_url,
  org,
  redirectUri,
  own: undefined,
};
const runner = run(start(pages, pageConfig(boot, fragment)), world, draw);

dress(document.documentElement, org?.accent, shell);
watchWorld(runner, windows);
if (shell === "frame") {
  post = listen(window.parent, window, boot.allowed_origins, {
    begin: (init, origin) => void join(init, origin),
    close: () => runner.send({ type: "close" }),
    here: ({ attemptId, made }) => runner.send({ type: "here", attemptId, made }),
    foreign: () => void refuse("This page isn't on one of the organisation's registered origins."),
  });
} else if (shell === "direct") {
  post = tellHolder(parent, location.ancestorOrigins?.[0], boot.allowed_origins, boot.api_mode);
  if (parent === window) void refuse("This page works only in a frame. For web views, use the hosted page.");
  else void join({ config: directConfig(query) }, location.ancestorOrigins?.[0] ?? "");
} else void enter();

/** Starts with the configuration that the page sent. If the server rejects the configuration, only reports the error. */
async function join({ config, watch }: Pick<Init, "config" | "watch">, origin: string): Promise<void> {
  if (watch && (boot.error || lacksOrigins(boot))) {
    const error = boot.error ?? {
      error: "svc_invalid_request",
      error_description: noPopupMode,
      request_id: watch.attemptId,
    };
    return post({ type: "result", callback: refusal(error, config.externalState) });
  }
  if (boot.error) return refuse(boot.error.error_description);
  await begin({ config, watch }, origin, config.lang);
}

/** Continues the visit that this tab stores, if the visit belongs to this page. */
async function begin(
  given: { config: Config; watch?: Watch | undefined; own?: Own | undefined },
  origin: string,
  lang: string | undefined,
): Promise<void> {
  owner = ownerOf(origin, given.config);
  const text = keep.read();
  const found = text === undefined ? undefined : { owner, text };
  chosen = found && keptIn(found, Date.now())?.lang;
  await speak(chosen ?? lang);
  runner.send({ type: "begin", ...given, kept: found });
}

async function enter(): Promise<void> {
  if (fragment) stay(fragment.attempt_id);
  if (boot.error) return refuse(boot.error.error_description);
  if (fragment && !mayTake(boot, document.referrer)) return refuse(noPopupMode);
  if (fragment && !isSecureContext) return refuse("Popup mode requires the service to use HTTPS.");
  const own = fragment && { id: fragment.attempt_id, hash: await hashOf(fragment.attempt_token) };
  await begin({ config: pageConfig(boot, fragment), own }, redirectUri ?? "", boot.query.lang);
}

/** Repeats the message, because the hidden frame may load later than this window. */
function stay(attemptId: string): void {
  const say = () => windows.here(attemptId, false);
  setInterval(say, again);
  say();
}

async function refuse(reason: string): Promise<void> {
  await speak(undefined);
  runner.send({ type: "misconfigured", reason, requestId: boot.error?.request_id });
}

async function speak(wanted: string | undefined): Promise<void> {
  language = await (mode?.load ?? load)(choose(wanted, document.documentElement.lang, navigator.language));
  document.documentElement.lang = language.lang;
}

function draw(): void {
  const s = runner.state();
  const root = document.getElementById("app");
  if (owner) keep.write(kept(s, owner, chosen), Date.now());
  if (!root || (s.view === "loading" && !s.trouble)) return;
  const onLanguage = () => void speak((chosen = language.lang === "en" ? "es" : "en")).then(draw);
  const own = s.tefca && mode;
  render(<App ui={{ s, t: language, send: runner.send, rest }} mode={own} onLanguage={onLanguage} />, root);
  if (place === "") {
    post({ type: "ready" });
    void loadRest();
  }
  if (!hasRest && !s.trouble && !canShow(s.view, rest, own)) runner.send({ type: "unloaded" });
  direct(root, s);
}

/**
 * Loads the views after the search in advance, so that patients don't wait for these views. If the browser is offline,
 * loadRest tries again when the browser is online.
 */
async function loadRest(): Promise<void> {
  hasRest = true;
  try {
    rest = await import("./rest.tsx");
  } catch {
    hasRest = false;
    addEventListener("online", () => void loadRest(), { once: true });
  }
  draw();
}

/** Focuses a new view's title, or the first invalid field. The first view leaves the focus to the page. */
function direct(root: HTMLElement, s: State): void {
  const next = placeOf(s);
  if (s.judged > judged) root.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  else if (place !== "" && place !== next) {
    root.querySelector("h1")?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  [place, judged] = [next, s.judged];
}
