/** The dashboard (docs/adr/0036-the-dashboard.md, docs/guide/dashboard.md): session handling, and the frame around all screens. */
import { render } from "preact";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Api } from "./api/api.ts";
import type { Failure } from "./api/api.ts";
import type { DashboardSession } from "./api/records.ts";
import { Context, failureOf } from "./app/app.ts";
import type { Boot } from "./app/app.ts";
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
  const unsaved = useRef(new Set<object>()).current;
  const place = usePlace(
    () => unsaved.size === 0 || confirm("Leave this page? Anything that you haven’t saved or copied will be lost."),
  );
  const [session, setSession] = useState<DashboardSession>();
  // The session whose screens are on the page. After the session has expired, the screens are hidden, so that nothing
  // typed is lost if the same person signs in again.
  const [shown, setShown] = useState<DashboardSession>();
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
  const enter = (entered: DashboardSession | undefined): void => {
    setSession(entered && api.keep(entered));
    if (entered === undefined || entered.needs === "") setShown(entered);
  };
  const refresh = async (): Promise<void> => enter(await api.get<DashboardSession>("session"));
  const begin = (): void => {
    setState("asking");
    refresh().then(
      () => setState("known"),
      (error: unknown) => setState(failureOf(error).status === 401 ? "known" : failureOf(error)),
    );
  };
  useEffect(begin, []);
  useEffect(() => {
    const leave = (event: BeforeUnloadEvent): void => {
      if (unsaved.size > 0) event.preventDefault();
    };
    addEventListener("beforeunload", leave);
    return () => removeEventListener("beforeunload", leave);
  }, []);
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
    const isIn = session !== undefined && session.needs === "";
    const invited = place.screen === "invitation";
    return (
      <>
        {!isIn && <SignIn api={api} session={session} invited={invited} expired={shown !== undefined} enter={enter} />}
        {shown && (
          <Context.Provider value={{ api, boot, session: shown, enter, refresh, place, say, unsaved }}>
            <Kept key={shown.account.id} hidden={!isIn} />
          </Context.Provider>
        )}
      </>
    );
  }
}

/** The frame, hidden while the session is expired. */
function Kept({ hidden }: { hidden: boolean }): JSX.Element {
  useEffect(() => {
    if (!hidden) document.querySelector<HTMLElement>("main h1")?.focus();
  }, [hidden]);
  return (
    <div hidden={hidden}>
      <Frame />
    </div>
  );
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
