/** Journeys in other engines (make test-engines). Playwright runs the tests but can't drive these browsers itself. */
import { defineConfig } from "@playwright/test";

const out = process.env["RECORDBRIDGE_UI_OUT"] ?? "../../../../build";

export default defineConfig({
  testDir: ".",
  globalSetup: "../support/setup.ts",
  outputDir: `${out}/ui-engines`,
  reporter: [["line"], ["json", { outputFile: `${out}/ui-engines.json` }]],
  projects: [{ name: "firefox" }, { name: "webkit" }],
  workers: 2,
  timeout: 120_000, // ends hanging tests on a busy machine
  forbidOnly: true,
});
