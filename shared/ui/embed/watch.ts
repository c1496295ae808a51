/** Forwards outside events to the application: nudges, focus, network, windows and Escape. */
import type { Runner } from "./machine/run.ts";
import type { Windows } from "./windows.ts";

/** The interval in milliseconds at which windows are checked. The interval affects only the waiting view's text. */
const glance = 1000;

export function watchWorld(runner: Runner, windows: Windows): void {
  let known = "";
  const look = () => {
    const closed = windows.closed();
    const focused = document.hasFocus();
    const now = JSON.stringify([closed, focused]);
    if (now === known) return;
    known = now;
    runner.send({ type: "windows", closed, focused });
  };
  const wake = () => {
    if (document.visibilityState === "hidden") return;
    look();
    runner.send({ type: "wake" });
  };
  setInterval(look, glance);
  addEventListener("focus", wake);
  document.addEventListener("visibilitychange", wake);
  addEventListener("online", () => runner.send({ type: "network", online: true }));
  addEventListener("offline", () => runner.send({ type: "network", online: false }));
  // Only the service's own pages can send a nudge, and a nudge only triggers a poll.
  addEventListener("message", ({ origin, data }: MessageEvent<{ svc?: unknown } | null>) => {
    if (origin === location.origin && data?.svc === "nudge") runner.send({ type: "wake" });
  });
  addEventListener("message", (event) => {
    const id = windows.heard(event);
    if (id === undefined) return;
    runner.send({ type: "opened", id, how: "seen" });
    if (event.data.cookies === false) runner.send({ type: "cookieless", id });
  });
  // A page from the back-forward cache keeps its state.
  addEventListener(
    "pageshow",
    ({ persisted }) => persisted && runner.state().view === "institution" && runner.send({ type: "prepare" }),
  );
  if (/frame|direct/.test(runner.state().shell))
    addEventListener("keydown", (event) => event.key === "Escape" && escape(event, runner));
}

/** Handles Escape. In a frame, Escape belongs to the page, unless the key closes a dialog or clears the search in the frame. */
function escape(event: KeyboardEvent, runner: Runner): void {
  const { target, defaultPrevented } = event;
  const clears = target instanceof HTMLInputElement && target.type === "search" && target.value !== "";
  if (defaultPrevented || clears || document.querySelector("dialog[open]")) return;
  event.preventDefault(); // otherwise, the same key press would close the confirmation dialog
  runner.send({ type: "close" });
}
