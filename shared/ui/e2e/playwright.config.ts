/**
 * Configures the browser journeys (make test-browser; README.md). Browser restrictions that Playwright relaxes by
 * default stay as they are in a patient's browser: popups need a click, and storage is partitioned by site.
 * support/browser.spec.ts checks these restrictions.
 */
import { defineConfig } from "@playwright/test";

const out = process.env["RECORDBRIDGE_UI_OUT"] ?? "../../../build";

export default defineConfig({
  testDir: ".",
  testIgnore: ["engines/**", "examples/**"], // these folders have their own configurations
  globalSetup: "./support/setup.ts",
  outputDir: `${out}/ui-traces`,
  reporter: [["line"], ["json", { outputFile: `${out}/ui-report.json` }]],
  workers: 2, // a journey spends half its time waiting; more workers would only compete
  fullyParallel: true,
  // A trace doubles a run's duration. Only a failed test is repeated with a trace, and the test still counts as failed.
  retries: 1,
  failOnFlakyTests: true,
  // These limits end hanging tests on a busy machine. The limits don't measure speed (journeys/speed.spec.ts).
  timeout: 300_000,
  expect: { timeout: 30_000 },
  forbidOnly: true,
  use: {
    actionTimeout: 30_000,
    trace: "on-first-retry",
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
      // If a command line has two feature lists, the last list wins. Playwright's own list would disable storage
      // partitioning. LocalNetworkAccessChecks would block the local service for pages without TLS.
      args: [
        "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,MediaRouter,OptimizationHints,LocalNetworkAccessChecks",
        "--disable-gpu", // Debian's launcher enables GPU rasterization, which costs CPU time without a GPU
        ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      ],
      ignoreDefaultArgs: ["--disable-popup-blocking"],
    },
  },
});
