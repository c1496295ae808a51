/** Tests the documentation site as readers use it: weight, accessibility, search, code groups, and requests. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import { findings } from "../support/axe.ts";
import { isBrief } from "../support/looks.ts";
import { customer } from "../support/run.ts";
import type { Run } from "../support/run.ts";
import { expect, test } from "../support/test.ts";
import { contentOf, drawn, files, open, typeOf } from "./site.ts";

const representative = [
  "index.html",
  "guide/quick-start.html",
  "guide/webhooks.html",
  "guide/errors.html",
  "guide/export.html",
  "reference/glossary.html",
  "reference/operations.html",
  "operate/failures.html",
  "develop/architecture.html",
  "adr/index.html",
];

/** The maximum compressed size of a page with everything that it loads, except Redoc's pages. */
const MAX_BYTES = 150_000;

/** The reference's pages whose accessibility is judged, and a text for which to wait. */
const entries = {
  "reference/api.html": "Successful JSON responses",
  "reference/events.html#/channels/webhook#channels/webhook/messages&m=patient.ehi_export_success": "download_links",
  "reference/api.html#/export/createexport": "Idempotent per connection",
} as const;

/** Records requests to other hosts, page errors and violations of the Content-Security-Policy. */
function watch(page: Page, run: Pick<Run, "base_url">): string[] {
  const found: string[] = [];
  page.on("request", (request) => {
    const url = request.url().replace(/^blob:/, ""); // of the search's worker
    if (!url.startsWith(run.base_url) && !url.startsWith("data:")) found.push(url);
  });
  page.on("pageerror", (error) => found.push(String(error)));
  page.on("console", (message) => {
    const isSignedOut = message.location().url.endsWith("/dashboard/session"); // the reader has no session (401)
    if (message.type() === "error" && !isSignedOut) found.push(`${message.text()} ${message.location().url}`);
  });
  return found;
}

/** Returns a function that returns the number of compressed bytes that the page has loaded. */
function weigh(page: Page): () => Promise<number> {
  const sizes: Promise<number>[] = [];
  page.on("requestfinished", (request) =>
    sizes.push(request.sizes().then(({ responseBodySize }) => Math.max(0, responseBodySize))),
  );
  return async () => (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

for (const path of [...representative, ...drawn]) {
  test(`docs: ${path} is small, requests nothing from other hosts and violates no policy`, async ({ page, run }) => {
    const found = watch(page, run);
    const weight = weigh(page); // with an empty cache
    await open(page, run, path);
    expect(found).toEqual([]);
    expect(await weight()).toBeGreaterThan(50_000); // Vue and the theme alone
    if (!drawn.includes(path)) expect(await weight()).toBeLessThan(MAX_BYTES);
  });
}

const views = [
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 390 },
  { colorScheme: "light", width: 390 },
  { colorScheme: "dark", width: 1280 },
] as const;

// The first two views have each width and each scheme.
for (const { colorScheme, width } of isBrief ? views.slice(0, 2) : views) {
  test(`docs: pages are accessible and fit ${width} px in ${colorScheme} mode`, async ({ browser, run }) => {
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
    for (const path of [...representative, "guide/gone.html", ...Object.keys(entries)]) {
      await open(page, run, path);
      const text = entries[path as keyof typeof entries] as string | undefined;
      if (text !== undefined) await page.locator("main").getByText(text).first().waitFor();
      expect.soft(await findings(page), path).toEqual([]);
      const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect.soft(excess, `${path} scrolls sideways`).toBeLessThanOrEqual(0);
    }
    await page.close();
  });
}

test("docs: the reference's menus and search are accessible", async ({ page, run }) => {
  await open(page, run, "reference/api.html#/export/createexport");
  await page.locator("redoc main [data-testid=dropdown]:visible").first().click();
  await page.getByRole("menu").waitFor();
  expect(await findings(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByTestId("search-trigger").first().click();
  const search = page.getByRole("dialog", { name: "Search" });
  await search.getByRole("textbox", { name: "Search" }).fill("export");
  await search.getByRole("link").first().waitFor();
  expect(await findings(page)).toEqual([]);
});

test("docs: search finds a section and opens it", async ({ page, run }) => {
  const found = watch(page, run);
  await open(page, run, "index.html");
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByRole("searchbox").fill("circuit breaker");
  await page.locator("#localsearch-list a").first().click();
  await expect(page).toHaveURL(/\/docs\/guide\/webhooks\.html#retries$/);
  await expect(page.getByRole("heading", { name: "Receive webhooks" })).toBeVisible();
  expect(found).toEqual([]);
});

test("docs: search finds an operation, and its entry opens in the reference", async ({ page, run }) => {
  await open(page, run, "index.html");
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByRole("searchbox").fill("createExport");
  await page.locator("#localsearch-list a").filter({ hasText: "Operations and events" }).first().click();
  await expect(page).toHaveURL(/operations\.html#request-an-export-of-a-connections-record$/);
  await page.getByRole("link", { name: "POST /bridge/fhir/ehi-export", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Request an export of a connection's record" })).toBeVisible();
});

test("docs: a code group keeps the reader's language on other pages", async ({ page, run }) => {
  await open(page, run, "guide/export.html");
  const visible = page.locator(".vp-code-group .blocks > div.active");
  await expect(visible.first()).toContainText("curl -s -u");
  await page.getByText("Python", { exact: true }).first().click();
  await expect(visible.first()).toContainText("create_export");
  await open(page, run, "guide/webhooks.html");
  await expect(visible.first()).toContainText("verify_webhook");
});

test("docs: the copy button copies a code block", async ({ page, run, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page, run, "guide/export.html");
  await page.locator("div.language-sh").first().hover();
  await page.locator("div.language-sh button.copy").first().click();
  await expect(page.locator("div.language-sh button.copied").first()).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("export BASE_URL=");
});

test("docs: dark mode persists", async ({ page, run }) => {
  await open(page, run, "guide/webhooks.html");
  await page.getByRole("switch").first().click();
  await expect(page.locator("html")).toHaveClass(/dark/);
  await page.reload();
  await expect(page.locator("html")).toHaveClass(/dark/);
  await open(page, run, "reference/events.html");
  await expect(page.locator("html")).toHaveClass(/dark/);
  await page.getByTestId("color-mode-switcher").click();
  await expect(page.locator("html")).toHaveClass(/light/);
  await open(page, run, "guide/webhooks.html");
  await expect(page.locator("html")).not.toHaveClass(/dark/);
});

test("docs: a static host serves the site below a path", async ({ page }) => {
  const host = createServer((request, response) => {
    const path = (request.url ?? "").replace(/^\/a\/path\//, "");
    const file = files.find((one) => one === path);
    response.writeHead(file ? 200 : 404, { "content-type": file ? typeOf(file) : "text/plain" });
    response.end(file && contentOf(file));
  });
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  const found = watch(page, { base_url: origin });
  await page.goto(`${origin}/a/path/index.html`);
  await page.getByRole("link", { name: "Guide", exact: true }).first().click();
  await page.getByRole("link", { name: "Export a record" }).first().click();
  await expect(page.getByRole("heading", { name: "Export a record", level: 1 })).toBeVisible();
  await page.getByRole("link", { name: "API", exact: true }).first().click();
  await expect(page.getByText("Successful JSON responses").first()).toBeVisible();
  expect(found).toEqual([]);
  await new Promise((resolve) => host.close(resolve));
});

test("docs: an unknown page returns 404 and links to the first page", async ({ page, run }) => {
  const response = await open(page, run, "guide/gone.html");
  expect(response?.status()).toBe(404);
  await page.getByRole("link", { name: "first page" }).click();
  await expect(page.getByRole("heading", { name: "Documentation" })).toBeVisible();
});

test("docs: examples contain the public ID of a reader with a session, in test mode only", async ({ page, run }) => {
  const asked: string[] = [];
  const { public_id: own } = customer(run);
  const respond = (data: unknown) => ({ json: { success: true, data } });
  await page.route("**/v1/dashboard/**", async (route) => {
    const { pathname } = new URL(route.request().url());
    asked.push(pathname);
    const isSession = pathname.endsWith("/session");
    await route.fulfill(
      respond(isSession ? { organisations: [{ id: "org-1" }] } : { credentials: [{ public_id: own }] }),
    );
  });
  await open(page, run, "guide/export.html");
  await expect(page.locator("div.language-sh").first()).toContainText(`export PUBLIC_ID=${own}`);
  await expect(page.locator("div.language-sh").first()).toContainText(`export BASE_URL=${run.base_url}`);
  await expect(page.locator("div.language-sh").first()).toContainText("PRIVATE_KEY=private_test_…");
  expect(asked.filter((path) => path.includes("/live/"))).toEqual([]);
});

test("docs: examples keep their placeholders without a session", async ({ page, run }) => {
  await open(page, run, "guide/export.html");
  await expect(page.locator("div.language-sh").first()).toContainText(
    "public_test_00000000-0000-4000-8000-000000000000",
  );
});

test("docs: the manifest lists every part of the site", () => {
  const documents = ["backend", "widget", "dashboard"].map((name) => `openapi/${name}.yaml`);
  for (const path of [...representative, ...drawn, ...documents]) expect(files).toContain(path);
});
