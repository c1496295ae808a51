/**
 * Every view on phone and desktop, light and dark, in English and Spanish: without anything to scroll sideways, and kept as a picture in build/ui-screens
 * for people to look at. axe-core judges every view in half of these, in which each two of device, colours and language meet.
 */
import type { Page } from "@playwright/test";
import { join } from "node:path";
import { findings } from "../support/axe.ts";
import { Canned } from "../support/canned.ts";
import { visit } from "../support/customer.ts";
import { english, Patient, spanish } from "../support/patient.ts";
import { repository } from "../support/run.ts";
import { expect, test } from "../support/test.ts";

const screens = process.env["RECORDBRIDGE_UI_SCREENS"] ?? join(repository, "build/ui-screens");

const DEVICES = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 860 } } as const;

/** Judges and keeps what is shown. */
async function look(page: Page, name: string, judged: boolean): Promise<void> {
  await page.screenshot({ path: join(screens, `${name}.png`), animations: "disabled" });
  if (judged) expect.soft(await findings(page), name).toEqual([]);
  const frame = page.frames().find((one) => one.url().includes("/widget/embed"));
  if (frame) expect.soft(await frame.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} fits`).toBe(true);
}

for (const [device, viewport] of Object.entries(DEVICES)) {
  for (const colorScheme of ["light", "dark"] as const) {
    for (const lang of [english, spanish]) {
      test(`${device}, ${colorScheme}, ${lang.lang}`, async ({ page, run, host }) => {
        test.setTimeout(120_000);
        const judged = [device === "phone", colorScheme === "light", lang === english].filter(Boolean).length % 2 === 1;
        const shown = (view: string): Promise<void> => look(page, `${view}-${device}-${colorScheme}-${lang.lang}`, judged);
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        const canned = new Canned();
        await canned.serve(page, run.base_url);
        const head = `<meta name="color-scheme" content="light dark"><script type="module" src="${run.base_url}/sdk/4/svc-widget.js"></script>`;
        await visit(page, run, host, { attributes: { "show-splash": "" }, lang: lang.lang, head });
        const patient = new Patient(page, undefined, lang);
        await shown("button");
        await patient.open();
        await patient.sees("splash_title");
        await shown("splash");
        await patient.agree();
        await patient.sees("email_title");
        await patient.field("email").fill("ada");
        await patient.button("email_send").click();
        await shown("email-wrong");
        await patient.field("email").fill("ada.maple@mail.example");
        await patient.button("email_send").click();
        await patient.sees("code_title");
        await shown("code");
        await patient.field("code").fill("123456");
        await patient.button("continue").click();
        await patient.sees("search_title");
        await shown("search");
        await searched(patient, canned, shown);
        await requested(patient, shown);
        await connected(patient, canned, shown);
        await failed(patient, canned, shown);
      });
    }
  }
}

type Shown = (view: string) => Promise<void>;

async function searched(patient: Patient, canned: Canned, shown: Shown): Promise<void> {
  canned.found = false;
  await patient.find("Rowan");
  await expect(patient.where.getByText(patient.lang.say("found_none", { query: "Rowan" }))).toBeVisible();
  await shown("search-nothing");
  canned.found = true;
  await patient.find("Alder");
  await expect(patient.where.getByRole("button", { name: /Alder Regional/ })).toBeVisible();
  await shown("search-found");
}

async function requested(patient: Patient, shown: Shown): Promise<void> {
  await patient.button("missing").click();
  await patient.sees("missing_title");
  await shown("missing");
  await patient.button("back").click();
  await patient.button("help").click();
  await patient.sees("support_title");
  await expect(patient.field("support_name")).toHaveValue(""); // what was searched for is no patient's name
  await shown("support");
  await patient.field("support_name").fill("Ada Maple");
  await patient.field("support_subject").fill("My clinic");
  await patient.field("support_body").fill("I do not find it.");
  await patient.button("send").click();
  await patient.sees("support_sent_title");
  await shown("support-sent");
  await patient.button("back").click();
}

async function connected(patient: Patient, canned: Canned, shown: Shown): Promise<void> {
  await patient.where.getByRole("button", { name: /Dogwood/ }).click();
  await patient.sees("portal_title");
  await shown("portals");
  await patient.button("back").click();
  await patient.where.getByRole("button", { name: /Cedar/ }).click();
  await expect(patient.button("go")).toBeEnabled();
  await shown("institution-degraded");
  await patient.button("back").click();
  await patient.where.getByRole("button", { name: /Alder Regional/ }).click();
  await expect(patient.button("go")).toBeEnabled();
  await shown("institution");
  const portal = await patient.leave();
  await patient.sees("waiting_title");
  await patient.page.bringToFront();
  await shown("waiting");
  await patient.page.locator("svc-widget-element").getByRole("button", { name: /^(Close|Cerrar)$/ }).click();
  await expect(patient.button("stay")).toBeVisible();
  await shown("leaving");
  await patient.button("stay").click();
  await portal.page.close();
  canned.progress = "done";
  await patient.sees("success_title");
  await shown("connected");
}

async function failed(patient: Patient, canned: Canned, shown: Shown): Promise<void> {
  for (const [progress, title] of [
    ["declined", "declined_title"],
    ["broken", "unready_title"],
  ] as const) {
    canned.progress = "open";
    const again = progress === "declined" ? "another" : "try_again";
    await patient.button(again).click();
    if (progress === "declined") await patient.where.getByRole("button", { name: /Alder Regional/ }).click();
    await expect(patient.button("go")).toBeEnabled();
    const portal = await patient.leave();
    canned.progress = progress;
    await portal.page.close();
    await patient.sees(title);
    await patient.where.getByText(patient.lang.say("details")).click();
    await shown(`failed-${progress}`);
  }
  await patient.button("other_hospital").click();
  await patient.where.getByRole("button", { name: patient.lang.say("review") }).click();
  await patient.sees("finish_title_one");
  await shown("finish");
}
