/**
 * The older element's hidden frame, which shows nothing and tells what comes of the attempt in that element's window. The attempt is of the element's
 * making: the server may not know it yet, nor ever.
 */
import type { Watch } from "../../kit/protocol.ts";
import { inquire, withAttempt } from "./attempting.ts";
import { hearing } from "./schedule.ts";
import type { Next, State } from "./state.ts";

/** A window that can be heard will say when there is something to ask for. One that says nothing was severed: it is asked after all the same. */
export function watch(s: State, { attemptId: id, attemptToken: token }: Watch, now: number): Next {
  const attempt = {
    ...{ id, token, start: { url: "", value: "" }, target: { name: "" }, madeAt: now, leftAt: now, status: "created" as const },
    ...{ how: undefined, closed: false, pending: false, asking: false, again: false, misses: 0 },
  };
  return [{ ...s, shell: "watch", attempts: [attempt] }, { do: "wait", key: `poll:${id}`, ms: hearing, then: { type: "poll", id } }];
}

/** The window is there: nothing is asked until its attempt is made. Where another window of the same page speaks, this frame has nothing to do with it. */
export function here(s: State, id: string, made: boolean, now: number): Next {
  const a = s.attempts.find((one) => one.id === id);
  if (s.shell !== "watch" || !a || a.status === "open") return [s];
  if (made) return inquire(withAttempt(s, id, { leftAt: now }), id);
  return [withAttempt(s, id, { leftAt: undefined, asking: false }), { do: "unwait", key: `poll:${id}` }, { do: "drop", key: `progress:${id}` }];
}
