/**
 * Journeys in a real browser (make test-browser; README.md). What Playwright usually switches off to make tests easy, a
 * patient's browser has: pop-ups are blocked without a click, and storage is kept apart by site. support/browser.spec.ts sees to it.
 */
import { defineConfig } from "@playwright/test";

const out = process.env["RECORDBRIDGE_UI_OUT"] ?? "../../../build";

export default defineConfig({
  testDir: ".",
  globalSetup: "./support/setup.ts",
  outputDir: `${out}/ui-traces`,
  reporter: [["line"], ["json", { outputFile: `${out}/ui-report.json` }]],
  workers: 2, // a journey is half waiting; more would only wait for each other
  fullyParallel: true,
  // A trace costs half of a run's time. What has failed is walked once more with one, and has failed whatever comes of that.
  retries: 1,
  failOnFlakyTests: true,
  // They end what hangs, on a machine that has much else to do: no judgement is one of time (journeys/speed.spec.ts).
  timeout: 300_000,
  expect: { timeout: 30_000 },
  forbidOnly: true,
  use: {
    actionTimeout: 30_000,
    trace: "on-first-retry",
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
      // The later of two lists of features is the one that counts: Playwright's switches storage partitioning off. The last one keeps pages without TLS
      // from services on this machine, where ours is for once.
      args: ["--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,MediaRouter,OptimizationHints,LocalNetworkAccessChecks", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
      ignoreDefaultArgs: ["--disable-popup-blocking"],
    },
  },
});
