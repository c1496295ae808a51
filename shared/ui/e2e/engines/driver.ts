/**
 * A client for the WebDriver commands that the journeys need. Firefox and WebKit accept the same commands over
 * different transports, so each engine's module only starts the browser and sends commands.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";

/** Sends one command and returns its result. */
export type Send = (command: Command, parameters?: object) => Promise<unknown>;

/** The commands by their names in Firefox's protocol, with the method and path of the WebDriver standard. */
export const COMMANDS = {
  Navigate: ["POST", "url"],
  ExecuteScript: ["POST", "execute/sync"],
  ElementClick: ["POST", "element/{id}/click"],
  PerformActions: ["POST", "actions"],
  GetWindowHandles: ["GET", "window/handles"],
  SwitchToWindow: ["POST", "window"],
  SwitchToFrame: ["POST", "frame"],
  CloseWindow: ["DELETE", "window"],
} as const;
export type Command = keyof typeof COMMANDS;

/** A running browser. */
export interface Engine {
  send: Send;
  stop(): Promise<void>;
}

/** Options of an engine. */
export interface Options {
  /** An empty folder for the profile. */
  folder: string;
  blocksCookies: boolean;
}

/** Returns the program's path, or an error that names its Debian package. */
export function installed(program: string, debian: string): string {
  try {
    return execFileSync("sh", ["-c", `command -v ${program}`], { encoding: "utf8" }).trim();
  } catch {
    throw new Error(`${program} is missing: install Debian's ${debian} (.ci/browsers)`);
  }
}

/** Starts a program without output. */
export const start = (program: string, words: string[], env: NodeJS.ProcessEnv = process.env): ChildProcess =>
  spawn(program, words, { env, stdio: "ignore", detached: true });

/** Kills a program and its child processes. */
export async function stop(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null || program.pid === undefined) return;
  const ended = new Promise((resolve) => program.once("exit", resolve));
  process.kill(-program.pid, "SIGKILL");
  await ended;
}

/** Calls a function until it returns a result other than undefined or false, and returns the result. */
export async function until<T>(
  what: string,
  attempt: () => Promise<T | undefined | false>,
  patience = 30_000,
): Promise<T> {
  let last: unknown;
  for (const end = Date.now() + patience; Date.now() < end; await wait(50)) {
    try {
      const result = await attempt();
      if (result !== undefined && result !== false) return result;
    } catch (error) {
      last = error; // the page may be loading
    }
  }
  throw new Error(`${what}: not within ${patience / 1_000} s`, { cause: last });
}
