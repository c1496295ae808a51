/**
 * The older element's hidden frame, which shows nothing and reports the attempt of the element's window. The element
 * created the attempt, so the server may not know the attempt yet, or may never know it.
 */
import type { Watch } from "../../kit/protocol.ts";
import { inquire, withAttempt } from "./attempting.ts";
import { hearing } from "./schedule.ts";
import type { Next, State } from "./state.ts";

/**
 * Starts watching an attempt. A window that can send messages will report when polling makes sense. A silent window was
 * severed, so polling starts anyway.
 */
export function watch(s: State, { attemptId: id, attemptToken: token }: Watch, now: number): Next {
  const attempt = {
    ...{
      id,
      token,
      start: { url: "", value: "" },
      target: { name: "" },
      madeAt: now,
      leftAt: now,
      status: "created" as const,
    },
    ...{ how: undefined, closed: false, pending: false, asking: false, again: false, misses: 0, cancelling: false },
  };
  return [
    { ...s, shell: "watch", attempts: [attempt] },
    { do: "wait", key: `poll:${id}`, ms: hearing, then: { type: "poll", id } },
  ];
}

/**
 * Handles the window's report that it is open. Polling waits until the window has created its attempt. Messages from
 * other windows are ignored.
 */
export function here(s: State, id: string, made: boolean, now: number): Next {
  const a = s.attempts.find((one) => one.id === id);
  if (s.shell !== "watch" || !a || a.status === "open") return [s];
  if (made) return inquire(withAttempt(s, id, { leftAt: now }), id);
  return [
    withAttempt(s, id, { leftAt: undefined, asking: false }),
    { do: "unwait", key: `poll:${id}` },
    { do: "drop", key: `progress:${id}` },
  ];
}
