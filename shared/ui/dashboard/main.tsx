/** The dashboard (docs/adr/0036-the-dashboard.md, docs/guide/dashboard.md): session handling, and the frame around all screens. */
import { render } from "preact";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Api } from "./api/api.ts";
import type { Failure } from "./api/api.ts";
import type { DashboardSession } from "./api/records.ts";
import { Context, failureOf } from "./app/app.ts";
import type { App, Boot } from "./app/app.ts";
import { Trouble } from "./parts/controls.tsx";
import { usePlace } from "./app/router.ts";
import { Restore } from "./screens/arrive.tsx";
import { Frame } from "./shell/frame.tsx";
import { Proof } from "./shell/proof.tsx";
import { SignIn } from "./shell/signin.tsx";

const boot: Boot = JSON.parse(document.getElementById("boot")?.textContent ?? "{}");

/** The time in milliseconds for which an announcement stays visible. */
const spoken = 4_000;

function Dashboard(): JSX.Element {
  const place = usePlace();
  const [session, setSession] = useState<DashboardSession>();
  const [state, setState] = useState<"asking" | "known" | Failure>("asking");
  const [proving, setProving] = useState<(proven: boolean) => void>();
  const [said, setSaid] = useState("");
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const api = useMemo(
    () =>
      new Api({
        base: "dashboard",
        fetch: (...request) => fetch(...request),
        signedOut: () => setSession(undefined),
        prove: () => new Promise((resolve) => setProving(() => resolve)),
      }),
    [],
  );
  const enter = (entered: DashboardSession | undefined): void => setSession(entered && api.keep(entered));
  const refresh = async (): Promise<void> => enter(await api.get<DashboardSession>("session"));
  const begin = (): void => {
    setState("asking");
    refresh().then(
      () => setState("known"),
      (error: unknown) => setState(failureOf(error).status === 401 ? "known" : failureOf(error)),
    );
  };
  useEffect(begin, []);
  const say = (text: string): void => {
    clearTimeout(timer.current);
    setSaid(text);
    timer.current = setTimeout(() => setSaid(""), spoken);
  };
  const proven =
    (yes: boolean) =>
    (entered?: DashboardSession): void => {
      if (entered) enter(entered);
      proving?.(yes);
      setProving(undefined);
    };
  return (
    <>
      {inner()}
      {proving && session && <Proof api={api} session={session} done={proven(true)} close={proven(false)} />}
      <div class="said" role="status">
        {said}
      </div>
    </>
  );

  function inner(): JSX.Element {
    if (state === "asking") return <main class="gate" aria-busy="true" />;
    if (state !== "known") {
      return (
        <main class="gate">
          <h1>The dashboard couldn’t load</h1>
          <Trouble failure={state} retry={begin} />
        </main>
      );
    }
    if (place.screen === "restore") return <Restore api={api} token={place.id} enter={enter} />;
    if (session === undefined || session.needs !== "") {
      return <SignIn api={api} session={session} invited={place.screen === "invitation"} enter={enter} />;
    }
    const app: App = { api, boot, session, enter, refresh, place, say };
    return (
      <Context.Provider value={app}>
        <Frame />
      </Context.Provider>
    );
  }
}

/**
 * Reports whether the page is on a host different from the dashboard's own host. The dashboard's cookie and passkeys
 * work only on its own host, so the page redirects to that host.
 */
function isElsewhere(): boolean {
  return boot.dashboard_url !== undefined && new URL(boot.dashboard_url).origin !== location.origin;
}

const root = document.getElementById("app");
if (isElsewhere()) location.replace(`${boot.dashboard_url}${location.hash}`);
else if (root !== null) render(<Dashboard />, root);
