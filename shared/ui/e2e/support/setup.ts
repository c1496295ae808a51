/** Starts the service once for all specs, on a free port, and adds institutions whose portals misbehave. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { INSTITUTIONS, operate, readRun, repository, VARIABLE } from "./run.ts";

/** The start timeout. The runner first builds missing functions. */
const PATIENCE_MS = 240_000;

async function started(runner: ChildProcess, file: string, log: string): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; !existsSync(file); await wait(100)) {
    if (runner.exitCode !== null || Date.now() > end)
      throw new Error(`the service did not start:\n${readFileSync(log, "utf8")}`);
  }
}

async function stopped(runner: ChildProcess): Promise<void> {
  // After the exit event, waiting for it would leave Node without work, and Node would exit with status 0.
  if (runner.exitCode !== null || runner.signalCode !== null) return;
  const ended = new Promise((resolve) => runner.once("exit", resolve));
  runner.kill("SIGTERM");
  await ended;
}

/** All journeys share one IP address, so the limits per address are raised. */
const LIMITS = [
  "BrowserRequestsPerMinute",
  "SearchesPerMinute",
  "PollRequestsPerMinute",
  "ConnectRequestsPerMinute",
  "CodesPerClientAndHour",
  "InquiriesPerHour",
];

/** Adds institutions. Each institution has its own sandbox URL. */
function addInstitutions(): void {
  const { sandbox } = readRun();
  for (const { name, switches } of Object.values(INSTITUTIONS)) {
    const base = sandbox.fhir_base_url.replace(/\/fhir$/, `/with/${switches}/fhir`);
    operate(
      "endpoint",
      "create",
      "-fhir-base",
      base,
      "-mode",
      "test",
      "-name",
      name,
      "-platform",
      "sandbox",
      "-client-id",
      "recordbridge-sandbox",
    );
  }
  operate("catalog", "publish", "-yes", "-mode", "test");
}

export default async function setup(): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "recordbridge-ui-"));
  const file = join(folder, "run.json");
  const log = join(folder, "log");
  const output = openSync(log, "w", 0o600);
  const parameters = LIMITS.flatMap((name) => ["-param", `${name}=10000`]);
  const runner = spawn(join(repository, "build/local"), ["-addr", "127.0.0.1:0", "-run-file", file, ...parameters], {
    cwd: repository,
    stdio: ["ignore", output, output],
  });
  const end = async (): Promise<void> => {
    await stopped(runner);
    rmSync(folder, { recursive: true });
  };
  try {
    await started(runner, file, log);
    process.env[VARIABLE] = file;
    addInstitutions();
  } catch (error) {
    await end();
    throw error;
  }
  return end;
}
