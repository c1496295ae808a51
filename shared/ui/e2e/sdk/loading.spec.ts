/** A frame that can't be shown. The modal shows an error, and pages that opted in receive widget.load_error with the reason. */
import type { Page } from "@playwright/test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Payload } from "../../kit/protocol.ts";
import { repository } from "../support/run.ts";
import { CONNECTED, expect, files, played, PUBLIC_ID, say, test, told, violations } from "./stage.ts";

const button = { name: "Share Records" };
const ELEMENT = `<svc-widget-element public-id="${PUBLIC_ID}" event-types="search.query, widget.load_error"></svc-widget-element>`;

const failed = (reason: string): Payload => ({ api_mode: "test", event_type: "widget.load_error", data: { reason } });

const alert = (page: Page) => page.getByRole("alert");

test("a frame blocked by the page's CSP is reported within seconds", async ({ visit, page, service }) => {
  await visit(ELEMENT, {
    headers: { "content-security-policy": `script-src 'unsafe-inline' ${service.origin()}; frame-src 'none'` },
  });
  await page.getByRole("button", button).click();
  await expect.poll(() => told(page), { timeout: 10_000 }).toEqual([failed("blocked")]);
  await expect(alert(page)).toContainText("This page didn’t load.");
  expect(await violations(page)).toEqual([expect.stringMatching(/^frame-src http:/)]);
  expect(service.asked).toEqual([]);
});

test("a frame that shows another page is reported, and can be retried", async ({ visit, page, service }) => {
  service.detour = `${service.base}/elsewhere?silent`;
  await visit(ELEMENT);
  await page.getByRole("button", button).click();
  await expect.poll(() => told(page), { timeout: 10_000 }).toEqual([failed("unreachable")]);
  await expect(alert(page)).toContainText("Check your internet connection.");
  service.detour = "";
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(alert(page)).toBeHidden();
  await say(await played(page), { type: "ready" });
  expect(await told(page)).toHaveLength(1);
});

test("a frame without a network is reported within seconds", async ({ visit, page, context }) => {
  await visit(ELEMENT);
  await context.setOffline(true);
  await page.getByRole("button", button).click();
  await expect.poll(() => told(page), { timeout: 10_000 }).toEqual([failed("offline")]);
  await expect(alert(page)).toContainText("Check your internet connection.");
  await context.setOffline(false);
  await page.getByRole("button", { name: "Try again" }).click();
  await played(page);
});

test("a frame that never becomes ready is reported after 15 seconds, and may still become ready", async ({
  visit,
  page,
}) => {
  await page.clock.install();
  await visit(ELEMENT);
  await page.clock.pauseAt(Date.now() + 60_000); // on a slow machine the next steps take seconds
  await page.getByRole("button", button).click();
  const frame = await played(page);
  await page.clock.runFor(14_000);
  await expect(alert(page)).toBeHidden();
  await page.clock.runFor(1_500);
  await expect(alert(page)).toBeVisible();
  expect(await told(page)).toEqual([failed("timeout")]);
  await page.clock.resume(); // the frame sends its message from a timer
  await say(frame, { type: "ready" });
  await expect(alert(page)).toBeHidden();
  await page.clock.runFor(16_000);
  await expect(alert(page)).toBeHidden();
  expect(await told(page)).toHaveLength(1);
});

test("the placeholder has the same background in both colour schemes", async ({ visit, page }) => {
  await page.route(/\/widget\/embed/, () => undefined); // a request without a response
  await visit(ELEMENT);
  const shown: Buffer[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.reload();
    await page.getByRole("button", button).click();
    const box = await page.locator("iframe").boundingBox();
    if (!box) throw new Error("there is no frame");
    const inside = { ...box, y: box.y + 60, height: box.height - 120 }; // without the close button and the corners
    shown.push(await page.screenshot({ clip: inside }));
  }
  expect(shown[0]?.equals(shown[1] ?? Buffer.alloc(0))).toBe(true);
});

test("a broken preloaded frame is replaced when the modal opens", async ({ visit, page, service }) => {
  service.detour = `${service.base}/elsewhere?silent`;
  await visit(ELEMENT.replace("event-types", `preload="hover" event-types`));
  await page.getByRole("button", button).hover();
  await expect.poll(() => service.asked).toHaveLength(2);
  await expect(page.locator("iframe")).toHaveCount(0, { timeout: 10_000 });
  service.detour = "";
  await page.getByRole("button", button).click();
  await played(page);
  expect(await told(page)).toEqual([]);
});

test("a configuration error is also a load error", async ({ visit, page }) => {
  await visit(`<svc-widget-element event-types="widget.load_error"></svc-widget-element>`);
  await page.getByRole("button", button).click();
  await expect
    .poll(() => told(page))
    .toEqual([{ api_mode: "test", event_type: "widget.config_error" }, failed("config")]);
  await expect(page.getByRole("button", { name: "Try again" })).toBeHidden();
});

test("a load error is not emitted without opt-in", async ({ visit, page, service }) => {
  service.detour = `${service.base}/elsewhere?silent`;
  await visit(`<svc-widget-element public-id="${PUBLIC_ID}"></svc-widget-element>`);
  await page.getByRole("button", button).click();
  await expect(alert(page)).toBeVisible();
  expect(await told(page)).toEqual([]);
});

test("a bundled element without base-url names the attribute and the fix", async ({ page, host }) => {
  const path = join(repository, "build/ui", files["sdk/svc-widget.js"]?.path ?? "");
  await page.route("**/bundle.js", (route) =>
    route.fulfill({ contentType: "text/javascript", body: readFileSync(path, "utf8") }),
  );
  await page.goto(
    host.publish({
      head: `<script type="module" src="/bundle.js"></script>`,
      body: `<svc-widget-element public-id="${PUBLIC_ID}"></svc-widget-element>`,
    }),
  );
  await page.getByRole("button", button).click();
  await expect(alert(page)).toContainText("base-url is missing: use https://…/v1");
});

test("a sandbox without allow-popups is reported at once if its page has the same origin", async ({
  page,
  host,
  service,
}) => {
  const inner = host.publish({
    path: "/inner",
    head: `<script type="module" src="${service.script}"></script>`,
    body: ELEMENT,
  });
  const sandbox = "allow-scripts allow-same-origin allow-forms";
  await page.goto(
    host.publish({
      body: `<iframe title="inner" sandbox="${sandbox}" src="${inner}" width="700" height="700"></iframe>`,
    }),
  );
  const frame = page.frameLocator("iframe");
  await frame.getByRole("button", button).click();
  await expect(frame.getByRole("alert")).toContainText("sandboxed without allow-popups");
  expect(service.asked).toEqual([]);
});

test("unknown events reach the page", async ({ visit, page }) => {
  await visit(
    `<svc-widget-element public-id="${PUBLIC_ID}" event-types="widget.view,widget.exit"></svc-widget-element>`,
  );
  await page.getByRole("button", button).click();
  const frame = await played(page);
  const later: Payload[] = [
    { api_mode: "test", event_type: "widget.view", data: { view: "search" } },
    { api_mode: "test", event_type: "widget.exit", data: { reason: "closed", view: "search" } },
    { ...CONNECTED, event_type: "widget.of_a_later_version" } as unknown as Payload,
  ];
  for (const payload of later) await say(frame, { type: "event", payload });
  await expect.poll(() => told(page)).toEqual(later);
});
