/** Walks through docs/examples (make test-examples): the browser of the other journeys, and one worker per example. */
import { defineConfig } from "@playwright/test";
import journeys from "../playwright.config.ts";

const out = process.env["RECORDBRIDGE_UI_OUT"] ?? "../../../../build";

export default defineConfig({
  ...journeys,
  testIgnore: [],
  globalSetup: "../support/setup.ts",
  outputDir: `${out}/ui-examples`,
  reporter: [["line"], ["json", { outputFile: `${out}/ui-examples.json` }]],
  workers: 3, // a walk mostly waits for events, which the API lists after 15 seconds
});
