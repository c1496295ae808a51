/** Playwright's test function with fixtures for every journey: the service, a server for customers' pages, and an institution's sign-in. */
import { test as base } from "@playwright/test";
import { Host } from "./host.ts";
import { readRun } from "./run.ts";
import type { Run } from "./run.ts";

interface Shared {
  run: Run;
  host: Host;
}

export const test = base.extend<object, Shared>({
  run: [async ({}, use) => use(readRun()), { scope: "worker" }],
  host: [
    async ({}, use) => {
      const host = new Host();
      await host.listen();
      await use(host);
      await host.close();
    },
    { scope: "worker" },
  ],
});

export { expect } from "@playwright/test";
