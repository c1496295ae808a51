/**
 * Browser journeys (make test-browser; README.md). Settings that Playwright relaxes by default are kept as in a
 * patient's browser: popups need a click, and storage is partitioned by site. support/browser.spec.ts checks this.
 */
import { defineConfig } from "@playwright/test";

const out = process.env["RECORDBRIDGE_UI_OUT"] ?? "../../../build";

export default defineConfig({
  testDir: ".",
  testIgnore: "engines/**", // these have their own browsers
  globalSetup: "./support/setup.ts",
  outputDir: `${out}/ui-traces`,
  reporter: [["line"], ["json", { outputFile: `${out}/ui-report.json` }]],
  workers: 2, // a journey spends half its time waiting; more workers would only compete
  fullyParallel: true,
  // A trace doubles the time of a run. Only failed tests are repeated with one, and still count as failed.
  retries: 1,
  failOnFlakyTests: true,
  // These limits end hanging tests on a busy machine; they don't measure speed (journeys/speed.spec.ts).
  timeout: 300_000,
  expect: { timeout: 30_000 },
  forbidOnly: true,
  use: {
    actionTimeout: 30_000,
    trace: "on-first-retry",
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
      // Of two feature lists the last one wins: Playwright's list would disable storage partitioning.
      // LocalNetworkAccessChecks would block pages without TLS from the local service.
      args: ["--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,MediaRouter,OptimizationHints,LocalNetworkAccessChecks", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
      ignoreDefaultArgs: ["--disable-popup-blocking"],
    },
  },
});
