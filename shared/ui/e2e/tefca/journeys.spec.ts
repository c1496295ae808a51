/** Tests TEFCA mode on a customer's page with a fake service. real.spec.ts covers the real service. */
import type { Page } from "@playwright/test";
import schema from "../../sdk/events.schema.json" with { type: "json" };
import { isValid } from "../../sdk/test/validate.ts";
import { CannedTefca, connected, failed, place, refuse, standing } from "../support/canned-tefca.ts";
import { heard, heardTypes, violations, visit } from "../support/customer.ts";
import type { Host } from "../support/host.ts";
import { Patient } from "../support/patient.ts";
import { customer } from "../support/run.ts";
import type { Run } from "../support/run.ts";
import { expect, test } from "../support/test.ts";
import { english, spanish, TefcaPatient } from "./patient.ts";

const attributes = { "tefca-mode": "true", "search-only": "", "external-id": "visit-9" };

/** Provides only one identity provider, so that the patient has no choice. */
async function arrive(page: Page, run: Run, host: Host, more: Record<string, string> = {}): Promise<TefcaPatient> {
  const patient = new TefcaPatient(page, english, new CannedTefca());
  patient.canned.providers = patient.canned.providers.slice(0, 1);
  await patient.canned.serve(page, run.base_url);
  await visit(page, run, host, { attributes: { ...attributes, ...more } });
  await patient.open();
  await patient.sees("tefca_intro_title");
  return patient;
}

/** Asserts that the page's events match the schema and contain no failure. */
async function judge(page: Page): Promise<void> {
  for (const event of await heard(page)) expect(isValid(event, schema), JSON.stringify(event)).toBe(true);
  expect(await heardTypes(page)).not.toContain("patient.connection_failed");
}

test("one identity check connects two facilities, and widget.complete lists both", async ({
  page,
  context,
  run,
  host,
}) => {
  const asked: string[] = [];
  context.on("request", (request) => asked.push(request.url()));
  const patient = await arrive(page, run, host, { "brand-id": run.sandbox.brand_id });
  await patient.next();
  await patient.verify(standing("located", place(0), place(1), place(2)));
  await patient.tick("Alder");
  await patient.tick("Cedar");
  patient.canned.authorized = standing("located", connected(0), place(1), connected(2));
  await patient.connecting.click();
  await patient.sees("finish_title_other");
  await patient.finish();
  expect(patient.canned.chosen).toEqual([[place(0).tefca_directory_id, place(2).tefca_directory_id]]);
  const { public_id } = customer(run);
  expect(await heard(page)).toEqual([
    { api_mode: "test", event_type: "patient.connection_pending", data: { public_id, external_id: "visit-9" } },
    { api_mode: "test", event_type: "patient.connection_success", data: connected(0).connection },
    { api_mode: "test", event_type: "patient.connection_success", data: connected(2).connection },
    { api_mode: "test", event_type: "widget.complete", data: [connected(0).connection, connected(2).connection] },
    { api_mode: "test", event_type: "widget.close", data: {} },
  ]);
  await judge(page);
  expect(await violations(page)).toEqual([]);
  expect(
    asked.filter((address) => /catalog|bridge\/attempts|visit-9|urn/.test(address)),
    "no catalogue, and nothing personal in an address",
  ).toEqual([]);
});

for (const status of [403, 400] as const) {
  test(`widget.config_error is emitted when TEFCA mode returns ${status}`, async ({ page, run, host }) => {
    const warnings: string[] = [];
    page.on("console", (message) => message.type() === "warning" && warnings.push(message.text()));
    await refuse(page, status);
    await visit(page, run, host, { attributes });
    const patient = new Patient(page);
    await patient.open();
    await patient.sees("config_title");
    await expect(patient.where.getByText("This organisation cannot use TEFCA mode.")).toBeVisible();
    expect(await heard(page)).toEqual([{ api_mode: "test", event_type: "widget.config_error" }]);
    await expect.poll(() => warnings.join("\n")).toContain("cannot use TEFCA mode");
  });
}

test("a blocked identity window can be opened with a button for the same attempt", async ({
  page,
  context,
  run,
  host,
}) => {
  await page.addInitScript(() => {
    HTMLFormElement.prototype.submit = () => undefined; // as a browser extension may do
  });
  const patient = await arrive(page, run, host);
  await patient.next();
  await patient.button("tefca_go").click();
  await patient.sees("waiting_title");
  const opening = context.waitForEvent("page");
  await patient.where
    .getByRole("button", { name: patient.lang.say("tefca_waiting_open", { name: "Aspen ID" }) })
    .click();
  expect((await opening).url()).toContain("/bridge/tefca/identity/start");
  await patient.stands(standing("located", place(0)));
  await patient.sees("tefca_found_one");
});

test("a closed identity window is reported once and can be reopened with one click", async ({ page, run, host }) => {
  const patient = await arrive(page, run, host);
  await patient.next();
  const window = await patient.toIdentity();
  await window.close();
  await expect(patient.button("waiting_reopen")).toBeVisible();
  const opening = page.context().waitForEvent("page");
  await patient.button("waiting_reopen").click();
  const second = await opening;
  await second.waitForURL(/\/identity\/start$/);
  await second.close();
  await expect(patient.button("waiting_reopen")).toBeVisible();
  await patient.close();
  await patient.button("leave").click();
  await expect(page.getByRole("dialog")).toBeHidden();
  expect((await heardTypes(page)).filter((type, i, all) => all.indexOf(type) === i)).toEqual([
    "patient.connection_pending",
    "widget.complete",
    "widget.close",
  ]);
  await judge(page);
});

test("TEFCA mode recovers when its chunk or any request fails", async ({ page, run, host }) => {
  const patient = new TefcaPatient(page, english, new CannedTefca());
  patient.canned.providers = patient.canned.providers.slice(0, 1);
  await patient.canned.serve(page, run.base_url);
  const kinds = [
    /\/widget\/assets\/tefca-\w+\.js/,
    /\/tefca\/identity\?public_id/,
    /\/tefca\/records\/[^/]+\?/,
    /\/tefca\/records\/[^/]+\/authorization/,
  ];
  const left = new Set([...kinds, "POST"]);
  for (const kind of kinds) {
    await page.route(kind, (route) => {
      const lost = left.delete(kind) || (route.request().method() === "POST" && left.delete("POST"));
      return lost ? route.abort("connectionfailed") : route.fallback();
    });
  }
  await visit(page, run, host, { attributes });
  await patient.open();
  await patient.press(() => patient.heading("tefca_intro_title").isVisible());
  await patient.next();
  await patient.press(() => patient.button("tefca_go").isEnabled());
  await patient.verify(standing("located", place(0)));
  await patient.sees("tefca_found_one");
  await patient.tick("Alder");
  patient.canned.authorized = standing("located", connected(0));
  await patient.connecting.click();
  await patient.press(() => patient.heading("finish_title_one").isVisible());
  expect([...left]).toEqual([]);
  await judge(page);
});

test("a reloaded frame continues at the found facilities", async ({ page, run, host }) => {
  const patient = await arrive(page, run, host);
  await patient.next();
  await patient.verify(standing("located", place(0)));
  await patient.sees("tefca_found_one");
  await page
    .frames()
    .at(-1)
    ?.evaluate(() => location.reload());
  await patient.sees("tefca_found_one");
});

test("TEFCA mode works with only the keyboard and focuses each heading", async ({ page, context, run, host }) => {
  const patient = await arrive(page, run, host);
  const ours = page.frames().find((one) => one.url().includes("/widget/embed"));
  const tabTo = async (name: RegExp): Promise<void> => {
    for (let i = 0; i < 40; i++) {
      const focused = await ours?.evaluate(() => {
        const at = document.activeElement;
        return at === document.body
          ? ""
          : at instanceof HTMLInputElement
            ? (at.labels?.[0]?.textContent ?? "")
            : (at?.textContent ?? "");
      });
      if (focused !== undefined && name.test(focused)) return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`the focus never came to ${name}`);
  };
  await tabTo(/^(Agree and continue|Continue)$/);
  await page.keyboard.press("Enter");
  await expect(patient.heading("tefca_ready_title")).toBeFocused();
  await expect(patient.button("tefca_go")).toBeEnabled();
  await tabTo(/Continue to Aspen/);
  const opening = context.waitForEvent("page");
  await page.keyboard.press("Enter");
  await (await opening).close();
  await patient.stands(standing("locating", place(0)));
  await expect(patient.heading("tefca_locating_title")).toBeFocused();
  await expect(patient.where.locator("[role=status].hidden")).toHaveText("1 place has responded so far");
  await patient.stands(standing("located", place(0), place(1)));
  await expect(patient.heading("tefca_found_other")).toBeFocused();
  await tabTo(/Connect$/);
  await page.keyboard.press("Enter");
  await expect(patient.where.getByRole("checkbox", { name: "Alder" })).toBeFocused();
  await page.keyboard.press("Space");
  await expect(patient.where.getByText("Connect 1 place")).toBeVisible();
  patient.canned.authorized = standing("authorizing", place(0, { outcome: "connecting" }), place(1));
  await tabTo(/Connect 1 place/);
  await page.keyboard.press("Enter");
  await expect(patient.heading("tefca_connecting_title")).toBeFocused();
  await expect(patient.where.locator("[role=status].hidden")).toHaveText("Progress: 0 of 1 places");
  await page.keyboard.press("Escape");
  await expect(patient.button("stay")).toBeFocused();
  await page.keyboard.press("Enter");
  await patient.stands(standing("located", connected(0), place(1)));
  await expect(patient.heading("finish_title_one")).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
  expect(await heardTypes(page)).toEqual([
    "patient.connection_pending",
    "patient.connection_success",
    "widget.complete",
    "widget.close",
  ]);
});

test("switching the language loads TEFCA mode's translations", async ({ page, run, host }) => {
  const patient = await arrive(page, run, host);
  await patient.button("language").click();
  const inSpanish = new TefcaPatient(page, spanish, patient.canned);
  await inSpanish.sees("tefca_intro_title");
  await inSpanish.next();
  await inSpanish.sees("tefca_ready_title");
  await inSpanish.button("language").click();
  await patient.sees("tefca_ready_title");
});

test("an element without tefca-mode loads no TEFCA chunk", async ({ page, run, host }) => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await visit(page, run, host, { attributes: { "search-only": "", "tefca-mode": "false" } });
  const patient = new Patient(page);
  await patient.open();
  await patient.sees("search_title");
  expect(asked.filter((address) => address.includes("tefca"))).toEqual([]);
});

test("a patient without matches can search for a provider and connect", async ({ page, run, host }) => {
  const patient = await arrive(page, run, host);
  await patient.next();
  await patient.verify(standing("located"));
  await patient.button("tefca_search").click();
  await patient.sees("search_title");
  await expect(patient.where.getByRole("button", { name: "Back" })).toBeHidden();
});

test("failed facilities show a reason and can be retried", async ({ page, run, host }) => {
  const patient = await arrive(page, run, host);
  await patient.next();
  await patient.verify(standing("located", place(0)));
  await patient.tick("Alder");
  patient.canned.authorized = standing("located", failed(0, "too_large"));
  await patient.connecting.click();
  await patient.sees("finish_none");
  await expect(patient.where.getByText(patient.lang.say("tefca_too_large"))).toBeVisible();
  patient.canned.authorized = standing("located", connected(0));
  await patient.button("tefca_retry").click();
  await patient.sees("finish_title_one");
  await judge(page);
});
