/** Phones lose their network. Whatever is lost, the patient has a next step. */
import type { Page, Route } from "@playwright/test";
import type { Word } from "../../kit/words/language.ts";
import { heardTypes, visit } from "../support/customer.ts";
import { mailedCode, newEmail, Patient } from "../support/patient.ts";
import { expect, test } from "../support/test.ts";

const attributes = { "search-only": "" };

/** Loses the first request that this is about, and says whether it has. */
async function lose(page: Page, method: string, path: RegExp): Promise<() => boolean> {
  let lost = false;
  await page.route(path, async (route: Route) => {
    if (lost || route.request().method() !== method) return route.fallback();
    lost = true;
    await route.abort("connectionfailed");
  });
  return () => lost;
}

/** Tries again, as often as it is offered, until the goal is reached. */
async function press(patient: Patient, goal: () => Promise<boolean>, button: Word = "try_again"): Promise<void> {
  await expect(async () => {
    const again = patient.button(button).first();
    if (await again.isVisible()) await again.click({ timeout: 500 });
    expect(await goal()).toBe(true);
  }).toPass({ timeout: 15_000 });
}

const CALLS = [
  ["searching", "POST", /\/bridge\/catalog\/search/],
  ["making the attempt", "POST", /\/bridge\/attempts\?/],
  ["asking how it stands", "GET", /\/bridge\/attempts\//],
] as const;

for (const [name, method, path] of CALLS) {
  test(`${name} is lost once`, async ({ page, run, host }) => {
    const lost = await lose(page, method, path);
    await visit(page, run, host, { attributes });
    const patient = new Patient(page);
    await patient.open();
    await patient.find("Sandbox");
    const found = patient.where.getByRole("button", { name: "Sandbox Hospital" }).first();
    await press(patient, () => found.isVisible());
    await found.click();
    await press(patient, () => patient.button("go").isEnabled());
    const portal = await patient.leave();
    await portal.signInAndAllow();
    await patient.sees("success_title");
    expect(lost()).toBe(true);
  });
}

for (const [name, path] of [
  ["sending the code", /\/bridge\/email\/codes/],
  ["checking the code", /\/bridge\/email\/verification/],
] as const) {
  test(`${name} is lost once`, async ({ page, run, host }) => {
    const lost = await lose(page, "POST", path);
    await visit(page, run, host, {});
    const patient = new Patient(page);
    await patient.open();
    const email = newEmail();
    await patient.field("email").fill(email);
    await patient.button("email_send").click();
    await press(patient, () => patient.field("code").isVisible());
    await patient.field("code").fill(await mailedCode(run, email));
    await press(patient, async () => {
      const next = patient.button("continue");
      if (await next.isVisible()) await next.click({ timeout: 500 });
      return patient.heading("search_title").isVisible();
    });
    expect(lost()).toBe(true);
  });
}

for (const [name, open, sent, path] of [
  ["asking for help", "help", "support_sent_title", /\/support\/request/],
  ["asking for a missing hospital", "missing", "missing_sent_title", /\/support\/healthsystem/],
] as const) {
  test(`${name} is lost once, and what was typed stays`, async ({ page, run, host }) => {
    const lost = await lose(page, "POST", path);
    await visit(page, run, host, { attributes: { ...attributes, email: newEmail() } });
    const patient = new Patient(page);
    await patient.open();
    await patient.button(open).click();
    for (const field of open === "help" ? (["support_name", "support_subject", "support_body"] as const) : (["missing_name"] as const)) {
      await patient.field(field).fill("Cedar Clinic");
    }
    await patient.button("send").click();
    await expect(patient.where.getByText(patient.lang.say("network_trouble"))).toBeVisible();
    await press(patient, () => patient.heading(sent).isVisible(), "send");
    expect(lost()).toBe(true);
  });
}

for (const [name, path] of [
  ["page", /\/widget\/embed/],
  ["script", /\/widget\/assets\/embed-\w+\.js/],
] as const) {
  test(`the frame's ${name} does not come: after 15 seconds the element says so, and trying again helps`, async ({ page, run, host }) => {
    const lost = await lose(page, "GET", path);
    await page.clock.install();
    await visit(page, run, host, { attributes });
    const patient = new Patient(page);
    await patient.open();
    await expect.poll(lost).toBe(true);
    await page.clock.runFor(16_000);
    await page.getByRole("dialog").getByRole("button", { name: "Try again" }).click();
    await page.clock.resume();
    await patient.sees("search_title");
  });
}

test("no network at all is said, and with it back the journey goes on", async ({ page, context, run, host }) => {
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.sees("search_title");
  await context.setOffline(true);
  await expect(patient.where.getByText(patient.lang.say("offline"))).toBeVisible();
  await patient.find("Sandbox");
  await context.setOffline(false);
  await expect(patient.where.getByText(patient.lang.say("offline"))).toBeHidden();
  await patient.connect();
});

test("a tab that has slept for ten minutes finds what happened in between", async ({ page, run, host }) => {
  await page.clock.install();
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.pick();
  const portal = await patient.leave();
  await page.clock.pauseAt(Date.now() + 5_000); // no timer of the tab runs
  await portal.signInAndAllow();
  await expect(portal.page.getByRole("heading", { level: 1 })).toHaveText("You are connected");
  await page.clock.fastForward("10:00");
  await page.clock.resume();
  await patient.sees("success_title");
  expect(await heardTypes(page)).toEqual(["patient.connection_pending", "patient.connection_success"]);
});

test("a sign-in that nobody finishes ends after 30 minutes, and nothing is asked any more", async ({ page, run, host }) => {
  await page.clock.install();
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.pick();
  await patient.leave();
  await page.clock.fastForward("31:00");
  await patient.sees("expired_title");
  let asked = 0;
  page.on("request", (request) => (asked += /\/bridge\/attempts\//.test(request.url()) ? 1 : 0));
  await page.clock.fastForward("05:00");
  expect(asked).toBe(0);
  await patient.button("try_again").click();
  await expect(patient.button("go")).toBeEnabled();
});
