/**
 * Describes the service under test. setup.ts starts the service, and the service's run file describes it (README.md,
 * "What make run shows").
 */
import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const repository = fileURLToPath(new URL("../../../../", import.meta.url));

export interface Organisation {
  org_id: string;
  name: string;
  mode: "live" | "test";
  public_id: string;
  private_key: string;
  redirect_uri: string;
}

export interface Run {
  base_url: string;
  dashboard_url: string;
  console_url: string;
  inbox_url: string;
  sandbox: { endpoint_id: string; brand_id: string; portal_id: string; fhir_base_url: string };
  organisations: Organisation[];
}

/** The name of the environment variable that contains the run file's path. */
export const VARIABLE = "RECORDBRIDGE_UI_RUN";

export function readRun(file = process.env[VARIABLE]): Run {
  if (file === undefined) throw new Error(`${VARIABLE} is not set: no service has been started`);
  return JSON.parse(readFileSync(file, "utf8"));
}

const program = join(repository, "build/ctl");
const worded = (words: string[]): string[] => ["-outputs", process.env[VARIABLE] ?? "", ...words];
const parsed = (printed: string): unknown => (printed.trim() === "" ? null : JSON.parse(printed));

/** Runs the operator's command line against the service and returns the command's output. */
export function operate(...words: string[]): unknown {
  return parsed(execFileSync(program, worded(words), { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }));
}

/** Runs the operator's command line without blocking, for commands that call a server in this process. */
export async function operateBeside(...words: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(program, worded(words));
  return parsed(stdout);
}

/** Returns the organisation whose test credential the tests use. */
export function customer(run: Run): Organisation {
  const found = run.organisations.find((one) => one.mode === "test");
  if (found === undefined) throw new Error("the run file has no credential in test mode");
  return found;
}

/** An institution whose portal misbehaves as its sandbox switches specify. */
export interface Institution {
  name: string;
  switches: string;
}

export const INSTITUTIONS = {
  refusing: { name: "Thistle Clinic", switches: "authorize-error:server_error" },
  declining: { name: "Yarrow Clinic", switches: "authorize-error:access_denied" },
  second: { name: "Clover Hospital", switches: "label:second" },
  partial: { name: "Clover Clinic", switches: "no-patient" },
} as const satisfies Record<string, Institution>;

export const SANDBOX = "Sandbox Hospital";
