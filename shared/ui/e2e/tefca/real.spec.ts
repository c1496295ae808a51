/**
 * TEFCA mode with the real endpoints, the simulated identity provider and the simulated network. The customer's page is
 * on another site (clinic.localhost), and the browser blocks third-party cookies, as in a private window.
 */
import type { Page } from "@playwright/test";
import schema from "../../sdk/events.schema.json" with { type: "json" };
import { isValid } from "../../sdk/test/validate.ts";
import type { Connection, Payload } from "../../kit/protocol.ts";
import { findings } from "../support/axe.ts";
import { CannedTefca } from "../support/canned-tefca.ts";
import { heard, heardTypes, violations, visit } from "../support/customer.ts";
import type { Host } from "../support/host.ts";
import type { Run } from "../support/run.ts";
import { expect, test } from "../support/test.ts";
import { english, TefcaPatient } from "./patient.ts";

/** The timeout for the network, because some facilities respond late or never. */
const PATIENCE = { timeout: 120_000 };

/** A person with records at several facilities (shared/tefca/people). */
const PERSON = "Maple Aster";

/** Leads to the sign-in page of the simulated identity provider. */
async function toProvider(page: Page, run: Run, host: Host): Promise<{ patient: TefcaPatient; window: Page }> {
  await visit(page, run, host, { attributes: { "tefca-mode": "", "external-id": "visit-9", "external-state": "s-9" } });
  const patient = new TefcaPatient(page, english, new CannedTefca()); // the fake serves nothing in this test
  await patient.open();
  await patient.next();
  await patient.confirm(run);
  const provider = patient.where.getByRole("listitem").getByRole("button").first();
  await expect(patient.button("tefca_go").or(provider)).toBeVisible();
  if (!(await patient.button("tefca_go").isVisible())) await provider.click();
  await expect(patient.button("tefca_go")).toBeEnabled();
  return { patient, window: await patient.toWindow() };
}

/** Chooses and connects all facilities found. */
async function connect(page: Page, run: Run, host: Host): Promise<Connection[]> {
  const { patient, window } = await toProvider(page, run, host);
  await window.getByRole("link", { name: PERSON }).click();
  await expect.poll(() => window.isClosed(), { message: "the window closes by itself" }).toBe(true);
  await expect(patient.heading("tefca_found_other")).toBeVisible(PATIENCE);
  expect(await findings(page)).toEqual([]);
  await patient.button("tefca_all").click();
  await patient.connecting.click();
  await expect(patient.heading("finish_title_other")).toBeVisible(PATIENCE);
  expect(await findings(page)).toEqual([]);
  await patient.finish();
  const events: Payload[] = await heard(page);
  for (const event of events) expect(isValid(event, schema), JSON.stringify(event)).toBe(true);
  const complete = events.at(-2);
  return complete?.event_type === "widget.complete" ? complete.data : [];
}

test("the test browser blocks third-party cookies", async ({ page, host }) => {
  const inner = host.publish({
    site: "inner",
    body: "<p>inner</p>",
    headers: { "set-cookie": "seen=1; SameSite=None; Secure" },
  });
  await page.goto(host.publish({ site: "outer", body: `<iframe src="${inner}"></iframe>` }));
  const frame = page.frames().find((one) => one.url() === inner);
  expect(await frame?.evaluate(() => document.cookie)).toBe("");
  await page.goto(inner);
  expect(await page.evaluate(() => document.cookie)).toBe("seen=1");
});

test("repeating the identity check keeps one connection per facility", async ({ page, context, run, host }) => {
  test.setTimeout(480_000);
  const first = await connect(page, run, host);
  expect(first.length).toBeGreaterThan(1);
  for (const one of first)
    expect(one).toMatchObject({
      platform_type: "tefca",
      scope: "patient/*.read",
      external_id: "visit-9",
      external_state: "s-9",
    });
  const successes = (await heardTypes(page)).filter((type) => type === "patient.connection_success");
  expect(successes.length).toBe(first.length);
  expect(await violations(page)).toEqual([]);
  const second = await connect(await context.newPage(), run, host); // a new tab keeps nothing of the first visit
  const pairs = (all: Connection[]): string[] =>
    all.map((one) => `${one.tefca_directory_id} ${one.org_connection_id}`).sort();
  expect(pairs(second)).toEqual(pairs(first));
});

test("a patient who declines at the provider sees that nothing was shared and can retry", async ({
  page,
  run,
  host,
}) => {
  const { patient, window } = await toProvider(page, run, host);
  await window.getByRole("link", { name: "Decline and go back" }).click();
  await patient.sees("declined_title");
  expect(await heardTypes(page)).toEqual(["patient.connection_pending"]);
  await patient.button("try_again").click();
  await expect(patient.button("tefca_go")).toBeEnabled();
});
