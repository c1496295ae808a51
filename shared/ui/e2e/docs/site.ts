/** The documentation site of the service under test, and of the build. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page, Response } from "@playwright/test";
import { repository } from "../support/run.ts";
import type { Run } from "../support/run.ts";

const built = join(repository, "build/site");

const manifest = JSON.parse(readFileSync(join(built, "manifest.json"), "utf8")) as {
  files: Record<string, { type: string }>;
};

/** The paths of the built files. */
export const files = Object.keys(manifest.files);

export const typeOf = (path: string): string => manifest.files[path]?.type ?? "";
export const contentOf = (path: string): Buffer => readFileSync(join(built, path));
export const textOf = (path: string): string => contentOf(path).toString();

/** The pages that Redoc draws. */
export const drawn = ["reference/api.html", "reference/events.html"];

/** Opens a page of the site and waits until its scripts have run. */
export async function open(page: Page, run: Run, path: string): Promise<Response | null> {
  const response = await page.goto(`${run.base_url}/docs/${path}`, { waitUntil: "networkidle" });
  const isDrawn = drawn.some((one) => path.startsWith(one));
  await page
    .locator(isDrawn ? "redoc :is(h1, h2)" : "#app h1")
    .first()
    .waitFor();
  return response;
}
