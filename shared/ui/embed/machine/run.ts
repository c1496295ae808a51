/** Performs the effects that step requests. Only this module uses timers and sends requests. */
import type { Callback, Payload } from "../../kit/protocol.ts";
import type { Api } from "../api/api.ts";
import type { Answered, Ask } from "../api/records.ts";
import { viewed } from "./events.ts";
import type { Effect, Message, Opened, Start } from "./message.ts";
import type { Next, State } from "./state.ts";
import { step } from "./step.ts";

/** Extends step for a mode. Returns undefined for messages that the extension doesn't handle. */
export type More = (s: State, m: Message, now: number) => Next | undefined;

/** The application's environment. */
export interface World {
  api: Api;
  now(): number; // milliseconds since 1970
  setTimeout(run: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
  open(id: string, start: Start): Opened;
  raise(id: string): void;
  shut(id: string): void;
  load(): Promise<More>;
  reload(): void;
  copy(text: string): Promise<void>;
  go(url: string): void;
  leave(start: Start): void;
  emit(payload: Payload, reason?: string): void;
  result(callback: Callback): void;
  closed(): void;
}

export interface Runner {
  state(): State;
  send(message: Message): void;
}

export function run(first: State, world: World, shown: (s: State) => void): Runner {
  let state = first;
  const timers = new Map<string, unknown>();
  const asked = new Map<string, AbortController>();
  let more: More = () => undefined;

  const send = (message: Message): void => {
    const now = world.now();
    const [next, ...effects] = more(state, message, now) ?? step(state, message, now);
    effects.push(...viewed(state, next));
    state = next;
    for (const effect of effects) perform(effect);
    shown(state);
  };

  const drop = (key: string): void => {
    asked.get(key)?.abort();
    asked.delete(key);
  };

  const unwait = (key: string): void => {
    world.clearTimeout(timers.get(key));
    timers.delete(key);
  };

  const ask = async (key: string, question: Ask): Promise<void> => {
    drop(key);
    const controller = new AbortController();
    asked.set(key, controller);
    const answered = await answer(world.api, question, controller.signal);
    if (asked.get(key) !== controller) return;
    asked.delete(key);
    send({ type: "answered", answered });
  };

  const load = async (): Promise<void> => {
    try {
      more = await world.load();
    } catch {
      return send({ type: "unloaded" });
    }
    send({ type: "loaded" });
  };

  const perform = (effect: Effect): void => {
    switch (effect.do) {
      case "ask":
        void ask(effect.key, effect.ask);
        break;
      case "drop":
        drop(effect.key);
        break;
      case "wait":
        unwait(effect.key);
        timers.set(
          effect.key,
          world.setTimeout(() => send(effect.then), effect.ms),
        );
        break;
      case "unwait":
        unwait(effect.key);
        break;
      case "open":
        send({ type: "opened", id: effect.id, how: world.open(effect.id, effect.start) });
        break;
      case "raise":
        world.raise(effect.id);
        break;
      case "shut":
        world.shut(effect.id);
        break;
      case "load":
        void load();
        break;
      case "reload":
        world.reload();
        break;
      case "send":
        send(effect.message);
        break;
      case "copy":
        // If the parent page denies access to the clipboard, the patient can still select the text.
        world.copy(effect.text).then(
          () => send({ type: "copied" }),
          () => undefined,
        );
        break;
      case "go":
        world.go(effect.url);
        break;
      case "leave":
        world.leave(effect.start);
        break;
      case "emit":
        world.emit(effect.payload, effect.reason);
        break;
      case "result":
        world.result(effect.callback);
        break;
      case "closed":
        for (const key of [...timers.keys()]) unwait(key);
        for (const key of [...asked.keys()]) if (!key.startsWith("cancel:")) drop(key);
        world.closed();
    }
  };

  return { state: () => state, send };
}

/** Returns a call with its answer. The call determines the answer's type, which TypeScript can't infer from a lookup by name. */
async function answer(api: Api, question: Ask, signal: AbortSignal): Promise<Answered> {
  const call = api[question.call] as (ask: Ask["ask"], signal: AbortSignal) => Promise<Answered["answer"]>;
  return { ...question, answer: await call(question.ask, signal) } as Answered;
}
