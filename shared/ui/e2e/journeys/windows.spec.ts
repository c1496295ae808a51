/** Tests lost, severed and blocked windows. The attempt on the server is authoritative. */
import type { BrowserContext } from "@playwright/test";
import { heardTypes, visit } from "../support/customer.ts";
import { Patient, Portal } from "../support/patient.ts";
import { withoutRedirects } from "../support/redirects.ts";
import { expect, test } from "../support/test.ts";

const attributes = { "search-only": "" };

/** The hospital's pages sever their opener. */
async function severing(context: BrowserContext): Promise<void> {
  await context.route("**/sandbox/oauth/authorize**", async (route) => {
    const response = await route.fetch({ maxRedirects: 0 });
    await route.fulfill({ response, headers: { ...response.headers(), "cross-origin-opener-policy": "same-origin" } });
  });
}

test("a portal that severs its opener still connects", async ({ page, context, run, host }) => {
  await severing(context);
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.pick();
  const portal = await patient.leave();
  await portal.signIn();
  expect(await portal.page.evaluate(() => window.opener)).toBeNull();
  await patient.sees("waiting_title");
  await portal.allow();
  await patient.sees("success_title");
  expect(await heardTypes(page)).toEqual(["patient.connection_pending", "patient.connection_success"]);
});

test("a customer's page that severs its popups still connects", async ({ page, run, host }) => {
  await visit(page, run, host, { attributes, headers: { "cross-origin-opener-policy": "same-origin" } });
  const patient = new Patient(page);
  await patient.open();
  await patient.connect();
});

test("a blocked window can be opened by a button for the same attempt", async ({ page, context, run, host }) => {
  await page.addInitScript(() => {
    HTMLFormElement.prototype.submit = () => undefined; // as a browser extension may do
  });
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.pick();
  await patient.button("go").click();
  await patient.sees("waiting_title");
  const opening = context.waitForEvent("page");
  await patient.where.getByRole("button", { name: patient.lang.say("waiting_open") }).click();
  await new Portal(await opening).signInAndAllow();
  await patient.sees("success_title");
});

for (const step of ["before the portal's page is there", "at the sign-in", "at the consent"] as const) {
  test(`a window closed ${step} can be reopened to connect`, async ({ page, run, host }) => {
    await visit(page, run, host, { attributes });
    const patient = new Patient(page);
    await patient.open();
    await patient.pick();
    const portal = await patient.leave();
    if (step === "before the portal's page is there")
      await portal.page.waitForURL((url) => url.protocol !== "about:", { waitUntil: "commit" });
    else await expect(portal.page.getByRole("heading", { name: "Sign in" })).toBeVisible();
    if (step === "at the consent") await portal.signIn();
    await expect(async () => {
      void portal.page.close().catch(() => undefined); // Chromium can ignore a close during a navigation
      expect(portal.page.isClosed()).toBe(true);
    }).toPass();
    await expect(async () => {
      const show = patient.button("waiting_show"); // the browser missed the end of a window that was navigating
      if (await show.isVisible()) await show.click();
      await expect(patient.button("waiting_reopen")).toBeVisible({ timeout: 4_000 });
    }).toPass();
    const second = await patient.leave("waiting_reopen"); // a new attempt, since the first start value may be used up
    await second.signInAndAllow();
    await patient.sees("success_title");
  });
}

test("closing the window right after allowing access loses nothing", async ({ page, context, run, host }) => {
  await withoutRedirects(context);
  await context.route(/\/bridge\/callback/, async (route) => {
    await route.fetch({ maxRedirects: 0 }); // the response is lost
    await route.request().frame().page().close();
  });
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.pick();
  const portal = await patient.leave();
  await portal.signInAndAllow().catch(() => undefined); // the window closes during the check
  await patient.sees("success_title");
  expect(portal.page.isClosed()).toBe(true);
  expect(await heardTypes(page)).toEqual(["patient.connection_pending", "patient.connection_success"]);
});

test("a window closed before the first poll reopens with a new attempt", async ({ page, run, host }) => {
  await page.route(/\/bridge\/attempts\//, (route) => route.abort("connectionfailed"));
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.pick();
  const portal = await patient.leave();
  await expect(portal.page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await portal.page.close();
  await page.unroute(/\/bridge\/attempts\//);
  const second = await patient.leave("waiting_reopen");
  await second.signInAndAllow();
  await patient.sees("success_title");
});

test("a patient who cancels while waiting can pick another institution", async ({ page, run, host }) => {
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.pick();
  const portal = await patient.leave();
  await patient.button("cancel").click();
  await expect(patient.button("go")).toBeEnabled();
  await portal.page.close();
  await patient.button("back").click();
  await patient.connect();
});

test("closing during a sign-in asks for confirmation and keeps the window", async ({ page, run, host }) => {
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.pick();
  const portal = await patient.leave();
  await expect(portal.page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await page.bringToFront();
  await page.locator("svc-widget-element").getByRole("button", { name: "Close" }).click();
  await patient.button("stay").click();
  await patient.sees("waiting_title");
  await portal.signInAndAllow();
  await patient.sees("success_title");
});

test("Escape during a sign-in asks for confirmation", async ({ page, run, host }) => {
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.pick();
  const portal = await patient.leave();
  await expect(portal.page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await page.bringToFront();
  await patient.sees("waiting_title");
  await page.keyboard.press("Escape");
  await expect(patient.button("leave")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(patient.button("leave")).toBeHidden();
  await patient.sees("waiting_title");
});

test("a patient can finish at the hospital after the element is removed", async ({ page, run, host }) => {
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.pick();
  const portal = await patient.leave();
  const told = await page.evaluate(() => {
    const types: string[] = [];
    const element = document.querySelector("svc-widget-element");
    element?.addEventListener(
      "eventBus",
      (event) => event instanceof CustomEvent && types.push(event.detail.event_type),
    ); // the event no longer bubbles
    element?.remove();
    return types;
  });
  expect(told).toEqual(["widget.complete", "widget.close"]);
  await portal.signIn();
  await portal.allow();
  await expect.poll(() => portal.page.isClosed()).toBe(true);
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).overflow)).toBe("visible");
});
