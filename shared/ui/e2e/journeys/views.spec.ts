/**
 * Tests every view in English and Spanish with support/looks.ts. Views must have no axe-core finding, no clipped
 * content and no horizontal scrolling. build/ui-screens keeps pictures for review.
 */
import type { Page } from "@playwright/test";
import { Canned, DOGWOOD_HOSTS } from "../support/canned.ts";
import type { Progress } from "../support/canned.ts";
import { script, visit } from "../support/customer.ts";
import type { Host } from "../support/host.ts";
import { look, motion } from "../support/looks.ts";
import { english, Patient, spanish } from "../support/patient.ts";
import { customer } from "../support/run.ts";
import type { Run } from "../support/run.ts";
import { expect, test } from "../support/test.ts";

/** A patient whose visit includes a check of every view. */
class Looker extends Patient {
  readonly canned = new Canned();

  async shows(view: string): Promise<void> {
    await look(this.page, view, this.lang.lang);
  }

  /** Polls the server's next state immediately, as if the patient had returned to the page. */
  async progress(to: Progress): Promise<void> {
    this.canned.progress = to;
    await this.page
      .frames()
      .at(-1)
      ?.evaluate(() => dispatchEvent(new Event("focus")));
  }

  async choose(name: RegExp): Promise<void> {
    await this.where.getByRole("button", { name }).click();
  }

  async close(): Promise<void> {
    await this.page
      .locator("svc-widget-element")
      .getByRole("button", { name: /^(Close|Cerrar)$/ })
      .click();
  }
}

async function looker(
  page: Page,
  run: Run,
  host: Host,
  lang = english,
  attributes: Record<string, string> = {},
): Promise<Looker> {
  const patient = new Looker(page, undefined, lang);
  await patient.canned.serve(page, run.base_url);
  await visit(page, run, host, {
    attributes,
    lang: lang.lang,
    head: `<meta name="color-scheme" content="light dark">${script(run)}`,
  });
  return patient;
}

for (const lang of [english, spanish]) {
  test.describe(`in ${lang.lang}`, () => {
    test.use({ locale: `${lang.lang}-US` });

    test("every view of a journey is accessible", async ({ page, run, host }) => {
      test.setTimeout(900_000);
      const patient = await looker(page, run, host, lang, { "show-splash": "" });
      await patient.shows("button");
      await patient.open();
      await patient.sees("splash_title");
      await patient.shows("splash");
      await patient.agree();
      await introduced(patient);
      await searched(patient);
      await asked(patient);
      await left(patient);
      await failed(patient);
    });

    test("rare views are accessible", async ({ page, run, host }) => {
      const patient = await looker(page, run, host, lang, { "reconnect-org-connection-id": crypto.randomUUID() });
      await patient.open();
      await patient.sees("reconnect_title");
      await patient.shows("reconnect");
      await visit(page, run, host, {
        attributes: { "public-id": "public_test_00000000-0000-4000-8000-000000000000" },
        lang: lang.lang,
      });
      await patient.open();
      await patient.sees("config_title");
      await patient.shows("config-error");
      const { public_id, redirect_uri } = customer(run);
      for (const [view, path] of [
        ["hosted", `/widget/connect?${new URLSearchParams({ public_id, redirect_uri })}`],
        ["window-used", "/bridge/connect?attempt=used"],
        ["callback-error", "/bridge/callback?state=x&error=access_denied"],
      ] as const) {
        await page.goto(`${run.base_url}${path}`);
        await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
        await patient.shows(view);
      }
    });
  });
}

async function introduced(patient: Looker): Promise<void> {
  await patient.sees("email_title");
  await patient.field("email").fill("ada");
  await patient.button("email_send").click();
  await patient.shows("email-wrong");
  await patient.field("email").fill("ada.maple@mail.example");
  await patient.button("email_send").click();
  await patient.sees("code_title");
  await patient.shows("code");
  await patient.field("code").fill("123456");
  await patient.button("continue").click();
  await patient.sees("search_title");
}

async function searched(patient: Looker): Promise<void> {
  patient.canned.found = false;
  await patient.find("Rowan");
  await expect(patient.where.getByText(patient.lang.say("found_none", { query: "Rowan" }))).toBeVisible();
  await patient.shows("search-nothing");
  await patient.page.route(/\/catalog\/search/, (route) => route.abort("connectionfailed"), { times: 1 });
  patient.canned.found = true;
  await patient.find("Alder");
  await expect(patient.where.getByText(patient.lang.say("network_trouble"))).toBeVisible();
  await expect(patient.where.getByText(patient.lang.say("found_none", { query: "Alder" }))).toBeHidden(); // unknown
  await patient.shows("search-trouble");
  await patient.button("try_again").click();
  await expect(patient.where.getByRole("button", { name: /Alder Regional/ })).toBeVisible();
  await patient.where.getByText(patient.lang.say("search_filter")).click();
  await patient.shows("search-found");
}

async function asked(patient: Looker): Promise<void> {
  await patient.button("missing").click();
  await patient.sees("missing_title");
  await patient.shows("missing");
  await patient.button("back").click();
  await patient.button("help").click();
  await patient.sees("support_title");
  await expect(patient.field("support_name")).toHaveValue(""); // the search query is not a patient's name
  await patient.shows("support");
  await patient.field("support_name").fill("Ada Maple");
  await patient.field("support_subject").fill("My clinic");
  await patient.field("support_body").fill("I do not find it.");
  await patient.button("send").click();
  await patient.sees("support_sent_title");
  await patient.shows("support-sent");
  await patient.button("back").click();
}

async function left(patient: Looker): Promise<void> {
  await patient.choose(/Dogwood/);
  await patient.sees("portal_title");
  for (const host of DOGWOOD_HOSTS)
    await expect(patient.where.getByText(patient.lang.say("portal_host", { host }), { exact: true })).toBeVisible();
  await patient.shows("portals");
  await patient.choose(/MyDogwood/);
  await expect(patient.button("go")).toBeEnabled();
  await expect(
    patient.where.getByText(patient.lang.say("portal_host", { host: DOGWOOD_HOSTS[0] }), { exact: true }),
  ).toBeVisible();
  await patient.shows("institution-portal");
  await patient.button("back").click();
  await patient.choose(/Cedar/);
  await expect(patient.button("go")).toBeEnabled();
  await patient.shows("institution-degraded");
  await patient.where.getByText(patient.lang.say("consent_more")).click();
  await patient.shows("consent");
  const portal = await patient.leave();
  await patient.sees("waiting_title");
  await patient.page.bringToFront();
  await patient.shows("waiting");
  expect(await motion(patient.page), "something moves for whoever has not asked for less").toBeGreaterThan(0);
  await patient.progress("open");
  await expect(patient.button("waiting_show")).toBeVisible();
  await patient.shows("waiting-noticed");
  await patient.close();
  await expect(patient.button("stay")).toBeVisible();
  await patient.shows("leaving");
  await patient.button("stay").click();
  await portal.page.close();
  await expect(patient.button("waiting_reopen")).toBeVisible();
  await patient.shows("waiting-closed");
  await patient.progress("done");
  await patient.sees("success_title");
  await patient.shows("connected");
}

async function failed(patient: Looker): Promise<void> {
  await patient.button("another").click();
  await patient.shows("search-connected");
  await patient.choose(/Alder Regional/);
  for (const [progress, title, next] of [
    ["declined", "declined_title", "try_again"],
    ["broken", "unready_title", "other_hospital"],
  ] as const) {
    patient.canned.progress = "open";
    await expect(patient.button("go")).toBeEnabled();
    const portal = await patient.leave();
    await portal.page.close();
    await patient.progress(progress);
    await patient.sees(title);
    await patient.where.getByText(patient.lang.say("details")).click();
    await patient.shows(`failed-${progress}`);
    await patient.button(next).click();
  }
  await patient.choose(new RegExp(patient.lang.say("review")));
  await patient.sees("finish_title_one");
  await patient.shows("finish");
}
