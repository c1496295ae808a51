/** Starts an example application as a reader does, on a free port. */
import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { repository, VARIABLE } from "../support/run.ts";

export class Application {
  readonly url: string;
  readonly #process: ChildProcess;
  /** The lines that the application and the forwarder of its events have printed. */
  printed = "";

  private constructor(language: string, port: number) {
    this.url = `http://localhost:${port}`;
    this.#process = spawn(join(repository, "docs/examples/start.sh"), [language], {
      env: { ...process.env, RUN: process.env[VARIABLE], PORT: String(port) },
      detached: true, // the leader of a process group, so that it can be stopped with its children
    });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => (this.printed += text));
    }
  }

  static async start(language: string): Promise<Application> {
    const application = new Application(language, await freePort());
    while (!(await application.#responds())) await new Promise((resolve) => setTimeout(resolve, 200));
    return application;
  }

  async #responds(): Promise<boolean> {
    if (this.#process.exitCode !== null) throw new Error(`the application did not start:\n${this.printed}`);
    return fetch(this.url).then(
      (response) => response.ok,
      () => false,
    );
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    process.kill(-(this.#process.pid ?? 0), "SIGTERM");
    await ended;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
