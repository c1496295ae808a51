/**
 * A worried patient: interruptions between the first click and the connection. Each test states how many extra presses
 * on our pages the recovery takes. Every interruption can be recovered from. The fourteenth interruption, blocked
 * cookies, is tested in engines/ and takes one press, which opens the window again.
 */
import type { BrowserContext, Page } from "@playwright/test";
import { heard, visit } from "../support/customer.ts";
import type { Host } from "../support/host.ts";
import { mailedCode, newEmail, Patient, PERSONA, Portal } from "../support/patient.ts";
import { customer, INSTITUTIONS } from "../support/run.ts";
import type { Run } from "../support/run.ts";
import { expect, test } from "../support/test.ts";

/** The number of presses without an interruption: open, choose the institution, continue to sign in. */
const USUAL = 3;

/** Counts presses on the buttons and links of the widget's pages and the customer's page. Presses on the portal's pages do not count. */
class Worried extends Patient {
  presses = 0;

  async watched(context: BrowserContext, run: Run): Promise<this> {
    await context.exposeBinding("pressed", ({ page }) => {
      if (!page.url().startsWith(run.sandbox.fhir_base_url.replace(/\/fhir$/, ""))) this.presses += 1;
    });
    await context.addInitScript(() => {
      const press = (event: Event): void => {
        const [first] = event.composedPath();
        if (event.isTrusted && first instanceof Element && first.closest("button, summary, a"))
          (window as unknown as { pressed(): void }).pressed();
      };
      addEventListener("click", press, true);
    });
    return this;
  }

  async goes(): Promise<Portal> {
    await this.pick();
    return this.leave();
  }

  /** Returns the number of extra presses, after the patient is connected. */
  async cost(): Promise<number> {
    await this.sees("success_title");
    return this.presses - USUAL;
  }
}

interface Scene {
  page: Page;
  context: BrowserContext;
  run: Run;
  host: Host;
}

async function arrives(
  { page, context, run, host }: Scene,
  attributes: Record<string, string> = { "search-only": "" },
): Promise<Worried> {
  const patient = await new Worried(page).watched(context, run);
  await visit(page, run, host, { attributes });
  await patient.open();
  return patient;
}

test("recovering from a closed window takes one press", async ({ page, context, run, host }) => {
  const patient = await arrives({ page, context, run, host });
  const portal = await patient.goes();
  await expect(portal.page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await portal.page.close();
  const again = await patient.leave("waiting_reopen");
  await again.signInAndAllow();
  expect(await patient.cost()).toBe(1);
});

test("recovering from a reload during sign-in takes one press", async ({ page, context, run, host }) => {
  const patient = await arrives({ page, context, run, host });
  const portal = await patient.goes();
  await page.reload();
  await patient.open();
  await patient.sees("waiting_title");
  await portal.signInAndAllow();
  expect(await patient.cost()).toBe(1);
});

test("recovering from the browser's back button takes one press", async ({ page, context, run, host }) => {
  const patient = await arrives({ page, context, run, host });
  await patient.pick();
  await page.goto("about:blank");
  await page.goBack();
  if (!(await page.getByRole("dialog").isVisible())) await patient.open();
  else patient.presses += 1;
  await expect(patient.button("go")).toBeEnabled();
  const portal = await patient.leave();
  await portal.signInAndAllow();
  expect(await patient.cost()).toBe(1);
});

test("recovering from ten seconds offline takes no press", async ({ page, context, run, host }) => {
  await page.clock.install();
  const patient = await arrives({ page, context, run, host });
  await patient.sees("search_title");
  await context.setOffline(true);
  await expect(patient.where.getByText(patient.lang.say("offline"))).toBeVisible();
  await page.clock.runFor(10_000);
  await context.setOffline(false);
  const portal = await patient.goes();
  await portal.signInAndAllow();
  expect(await patient.cost()).toBe(0);
});

test("recovering from a tab that the phone discards takes no press", async ({ page, context, run }) => {
  const { public_id, redirect_uri } = customer(run);
  const patient = await new Worried(page, page).watched(context, run);
  await page.goto(`${run.base_url}/bridge/connect?${new URLSearchParams({ public_id, redirect_uri })}`);
  await patient.agree();
  const email = newEmail();
  await patient.field("email").fill(email);
  await patient.button("email_send").click();
  await patient.sees("code_title");
  await page.reload();
  await patient.sees("code_title");
  await patient.field("code").fill(await mailedCode(run, email));
  const before = patient.presses;
  await patient.button("continue").click();
  await patient.sees("search_title");
  expect([before, patient.presses], "agree, send; then continue").toEqual([2, 3]);
});

test("recovering from a wrong code takes one press", async ({ page, context, run, host }) => {
  const patient = await arrives({ page, context, run, host }, {});
  const email = newEmail();
  await patient.field("email").fill(email);
  await patient.button("email_send").click();
  const code = await mailedCode(run, email);
  await patient.field("code").fill(code === "000000" ? "111111" : "000000");
  await patient.button("continue").click();
  await expect(patient.where.getByText(patient.lang.say("code_wrong"))).toBeVisible();
  await patient.field("code").fill(code);
  await patient.button("continue").click();
  await patient.sees("search_title");
  expect(patient.presses, "open, send, continue twice").toBe(4);
});

test("recovering from declining by mistake takes two presses", async ({ page, context, run, host }) => {
  const patient = await arrives({ page, context, run, host });
  const portal = await patient.goes();
  await portal.signIn();
  await portal.deny();
  await patient.button("try_again").click();
  await expect(patient.button("go")).toBeEnabled();
  const again = await patient.leave();
  await again.signInAndAllow();
  expect(await patient.cost()).toBe(2);
});

test("changing to the right hospital takes four presses", async ({ page, context, run, host }) => {
  const patient = await arrives({ page, context, run, host });
  await patient.pick(INSTITUTIONS.second.name);
  const portal = await patient.leave();
  await patient.sees("waiting_title");
  await patient.button("cancel").click();
  await expect.poll(() => portal.page.isClosed()).toBe(true);
  await patient.button("back").click();
  const right = await patient.goes();
  await right.signInAndAllow();
  expect(await patient.cost()).toBe(4);
});

test("recovering from a reconnect with another patient's account takes two presses", async ({
  page,
  context,
  run,
  host,
}) => {
  const patient = await arrives({ page, context, run, host });
  await (await patient.goes()).signInAndAllow();
  await patient.sees("success_title");
  const told = (await heard(page)).find((one) => one.event_type === "patient.connection_success");
  const id = told?.event_type === "patient.connection_success" ? told.data.org_connection_id : "";
  await visit(page, run, host, { attributes: { "reconnect-org-connection-id": id } });
  const before = patient.presses;
  await patient.open();
  await expect(patient.button("go")).toBeEnabled();
  const portal = await patient.leave();
  await portal.page.getByRole("link").filter({ hasNotText: PERSONA }).first().click();
  await portal.allow();
  await patient.sees("other_patient_title");
  await patient.button("try_again").click();
  await expect(patient.button("go")).toBeEnabled();
  await (await patient.leave()).signInAndAllow();
  await patient.sees("success_title");
  expect(patient.presses - before, "open, go; then again twice").toBe(4);
});

test("recovering from a portal that is down takes one press", async ({ page, context, run, host }) => {
  await context.route("**/sandbox/oauth/authorize**", (route) => route.abort("connectionrefused"), { times: 1 });
  const patient = await arrives({ page, context, run, host });
  const portal = await patient.goes();
  await expect.poll(() => portal.page.url()).toContain("chrome-error:");
  await portal.page.close();
  await page.bringToFront();
  const again = await patient.leave("waiting_reopen");
  await again.signInAndAllow();
  expect(await patient.cost()).toBe(1);
});

test("the service's own failure is named as such, and recovering takes one press", async ({
  page,
  context,
  run,
  host,
}) => {
  let left = 1;
  await page.route(/\/bridge\/attempts\?/, (route) =>
    left-- > 0
      ? route.fulfill({
          status: 500,
          json: { success: false, error: "svc_server_error", error_description: "It failed.", request_id: "r-1" },
        })
      : route.fallback(),
  );
  const patient = await arrives({ page, context, run, host });
  await patient.find("Sandbox Hospital");
  await patient.where.getByRole("button", { name: "Sandbox Hospital" }).first().click();
  await patient.sees("ours_title");
  await patient.button("try_again").click();
  await expect(patient.button("go")).toBeEnabled();
  const portal = await patient.leave();
  await portal.signInAndAllow();
  expect(await patient.cost()).toBe(1);
});

test("recovering from a blocked window takes one press", async ({ page, context, run, host }) => {
  await page.addInitScript(() => {
    HTMLFormElement.prototype.submit = () => undefined; // as a browser extension may do
  });
  const patient = await arrives({ page, context, run, host });
  await patient.pick();
  await patient.button("go").click();
  await patient.sees("waiting_title");
  const opening = context.waitForEvent("page");
  await patient.where.getByRole("button", { name: patient.lang.say("waiting_open") }).click();
  await new Portal(await opening).signInAndAllow();
  expect(await patient.cost()).toBe(1);
});

test("switching the language takes one press and loses no input", async ({ page, context, run, host }) => {
  const patient = await arrives({ page, context, run, host });
  await patient.pick();
  await patient.button("language").click();
  const spanish = page.frameLocator("svc-widget-element iframe");
  const heading = spanish.getByRole("heading", { level: 1, name: /^Conectar con/ });
  await expect(heading).toBeVisible(); // a reload before the switch would keep the old language
  await page.reload();
  await patient.open();
  await expect(heading).toBeVisible();
  await spanish.getByRole("button", { name: "English" }).click();
  await expect(patient.button("go")).toBeEnabled();
  const portal = await patient.leave();
  await portal.signInAndAllow();
  expect(await patient.cost(), "twice the language, once the reload").toBe(3);
});
