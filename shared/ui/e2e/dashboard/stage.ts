/** The dashboard with the in-memory service (dashboard/testing), so that tests can show every screen. The page and its CSP are real. */
import type { Page, Route } from "@playwright/test";
import { Fake } from "../../dashboard/testing/fake.ts";
import { ORG } from "../../dashboard/testing/ids.ts";
import type { World } from "../../dashboard/testing/world.ts";
import type { Run } from "../support/run.ts";

export { crowd } from "../../dashboard/testing/crowd.ts";
export { id, ORG } from "../../dashboard/testing/ids.ts";
export { world } from "../../dashboard/testing/world.ts";
export { Fake };

declare global {
  interface Window {
    broken: string[];
  }
}

async function answer(fake: Fake, route: Route): Promise<void> {
  const request = route.request();
  const { pathname, searchParams: query } = new URL(request.url());
  const path = pathname.replace(/^.*?\/(dashboard\/|(?=bridge\/))/, "");
  const told = fake.answer({
    method: request.method(),
    path,
    query,
    body: (request.postDataJSON() ?? {}) as Record<string, unknown>,
    ifMatch: request.headers()["if-match"],
  });
  await route.fulfill(told);
}

/** Opens a place in the dashboard and records CSP violations and errors. */
export async function open(page: Page, run: Run, place: string, of: World | Fake): Promise<Fake> {
  const fake = of instanceof Fake ? of : new Fake(of);
  await page.unrouteAll();
  await page.route(/\/dashboard\/.+|\/bridge\/catalog\/search/, (route) => answer(fake, route));
  await page.addInitScript(() => {
    window.broken = [];
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
      window.broken.push(`${violatedDirective} ${blockedURI}`),
    );
    addEventListener("error", ({ message }) => window.broken.push(message));
  });
  await page.goto("about:blank"); // a change of the fragment alone would not reload the page
  await page.goto(`${run.dashboard_url}#/${place}`);
  return fake;
}

/** Returns a screen's place in the sample organisation. The default mode is test mode. */
export const at = (screen: string, mode = "test"): string => `${ORG}/${mode}/${screen}`;
