/** Recovery codes and organisation deletion, with the in-memory service. */
import { findings } from "../support/axe.ts";
import { look } from "../support/looks.ts";
import { expect, test } from "../support/test.ts";
import { at, Fake, open, world } from "./stage.ts";

test("the recovery codes dialog closes only after the codes are saved", async ({ page, run }) => {
  const of = world();
  of.session.account.passkeys = [];
  const fake = await open(page, run, at("account"), of);
  await expect(page.getByRole("heading", { name: "Recovery codes" })).toHaveCount(0);
  await page.getByRole("button", { name: "Set up" }).click();
  await page.getByLabel("Code from your authenticator app").fill("123456");
  await page.getByRole("button", { name: "Turn on" }).click();
  const dialog = page.getByRole("dialog", { name: "Save your recovery codes" });
  await expect(dialog.getByRole("listitem")).toHaveCount(10);
  expect(await findings(page)).toEqual([]);
  await look(page, "dashboard-recovery-codes", "en");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    dialog.getByRole("button", { name: "Download codes" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("recordbridge-recovery-codes.txt");
  await dialog.getByRole("button", { name: "Done" }).click();
  await expect(dialog.getByRole("alert")).toContainText("Save your recovery codes, then");
  await dialog.getByLabel("I’ve saved these codes").check();
  await dialog.getByRole("button", { name: "Done" }).click();
  await expect(dialog).toHaveCount(0);
  expect(fake.asked).toContain("PUT account/totp");
});

test("the dashboard warns when few recovery codes are left, and asks for confirmation before replacing them", async ({
  page,
  run,
}) => {
  const of = world();
  of.session.account.recovery_codes_left = 3;
  const fake = await open(page, run, at("account"), of);
  await expect(page.getByText("You have 3 recovery codes left.")).toBeVisible();
  await page.getByRole("button", { name: "Create new codes" }).click();
  const question = page.getByRole("dialog", { name: "Create new codes" });
  await expect(question).toContainText("Your old recovery codes will stop working.");
  await question.getByRole("button", { name: "Create new codes" }).click();
  await expect(page.getByRole("dialog", { name: "Save your recovery codes" })).toBeVisible();
  expect(fake.asked).toContain("POST account/recovery-codes");
});

test("a recovery code completes a sign-in", async ({ page, run }) => {
  const of = world();
  of.session.needs = "second_factor";
  const fake = new Fake(of);
  await open(page, run, at("account"), fake);
  await expect(page.getByRole("heading", { name: "One more step" })).toBeVisible();
  await page.getByRole("button", { name: "Use a recovery code" }).click();
  await page.getByLabel("Recovery code").fill("0000-0000-0000-0000");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page.getByRole("alert")).toContainText("wrong or already used");
  expect(await findings(page)).toEqual([]);
  of.session.needs = "";
  await page.getByLabel("Recovery code").fill("7h2k 9mqx 4rtv 1000");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Your account" })).toBeVisible();
});

test("deleting an organisation requires its name and can be cancelled", async ({ page, run }) => {
  const of = world();
  const fake = await open(page, run, at("branding"), of);
  await page.getByRole("button", { name: "Delete organisation" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete organisation" });
  await expect(dialog).toContainText("The deletion will begin in seven days.");
  await look(page, "dashboard-delete-organisation", "en");
  await dialog.getByLabel("Type").fill("Another");
  await dialog.getByRole("button", { name: "Delete in 7 days" }).click();
  await expect(dialog.getByRole("alert")).toContainText("Type");
  expect(fake.asked).not.toContain("POST organisations");
  await dialog.getByLabel("Type").fill(of.organisation.name);
  await dialog.getByRole("button", { name: "Delete in 7 days" }).click();
  await expect(page.getByText("This organisation will be deleted.")).toBeVisible();
  expect(await findings(page)).toEqual([]);
  await page.getByRole("button", { name: "Cancel deletion" }).click();
  await expect(page.getByRole("button", { name: "Delete organisation" })).toBeVisible();
});

test("owners can see and stop a pending recovery", async ({ page, run }) => {
  const of = world();
  of.members[0]!.recovers_at = new Date(Date.now() + 72 * 3_600_000).toISOString();
  const fake = await open(page, run, at("members"), of);
  await expect(page.getByText("lost every second factor")).toBeVisible();
  expect(await findings(page)).toEqual([]);
  await page.getByRole("button", { name: "Cancel account recovery for" }).click();
  await expect(page.getByText("lost every second factor")).toHaveCount(0);
  expect(fake.asked.filter((one) => one.endsWith("/recovery"))).toHaveLength(1);
});
