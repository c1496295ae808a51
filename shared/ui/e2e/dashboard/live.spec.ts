/** Live mode: the checklist, the request, the review and the decision, for owners and other members. */
import { findings } from "../support/axe.ts";
import { look } from "../support/looks.ts";
import { expect, test } from "../support/test.ts";
import { at, open, world } from "./stage.ts";

const title = "Request live mode";

test("an owner can complete the checklist and request live mode", async ({ page, run }) => {
  const begun = world();
  begun.live.stage = "none";
  begun.live.checklist[2]!.done = false;
  const fake = await open(page, run, at("", "live"), begun);
  await expect(page.getByRole("heading", { level: 1, name: title })).toBeVisible();
  await expect(page.getByText("Connect a sample patient")).toHaveCount(0);
  await expect(page.getByText("3 of 4 done")).toBeVisible();
  await expect(page.getByRole("button", { name: "Send request" })).toHaveCount(0);
  await look(page, "dashboard-live-checklist", "en");
  begun.live.checklist[2]!.done = true;
  await open(page, run, at("", "live"), fake);
  await page
    .getByRole("textbox", { name: "What will you use live mode for?" })
    .fill("Patients of our clinics share their records before a visit.");
  await page.getByRole("checkbox", { name: "We accept the live mode terms" }).check();
  await look(page, "dashboard-live-request", "en");
  await page.getByRole("button", { name: "Send request" }).click();
  await expect(page.getByText("We’re reviewing your request.")).toBeVisible();
  await look(page, "dashboard-live-review", "en");
  expect(await page.evaluate(() => window.broken)).toEqual([]);
});

test("a rejected or withdrawn request shows the operator's reason", async ({ page, run }) => {
  for (const [stage, text] of [
    ["none", "Your request was not approved."],
    ["withdrawn", "Your access to live mode was withdrawn."],
  ] as const) {
    const decided = world();
    Object.assign(decided.live, { stage, reason: "Your website does not name you." });
    await open(page, run, at("", "live"), decided);
    await expect(page.getByText(text)).toBeVisible();
    await expect(page.getByText("Your website does not name you.")).toBeVisible();
    expect(await findings(page)).toEqual([]);
  }
});

test("a member who is not an owner sees the checklist but can't request live mode", async ({ page, run }) => {
  const viewed = world();
  viewed.live.stage = "none";
  viewed.session.organisations[0]!.role = "admin";
  await open(page, run, at("", "live"), viewed);
  await expect(page.getByText("Only owners can request live mode.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Send request" })).toHaveCount(0);
});

test("the live overview omits sample patients", async ({ page, run }) => {
  await open(page, run, at("", "live"), world());
  await expect(page.getByText("Connect your first patient", { exact: true })).toBeVisible();
  await expect(page.getByText("sample patient")).toHaveCount(0);
});
