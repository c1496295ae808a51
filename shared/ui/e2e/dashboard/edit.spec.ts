/** Tests edits of objects that change while a form is open, and actions that must not happen by accident. */
import { randomUUID } from "node:crypto";
import { look } from "../support/looks.ts";
import { expect, test } from "../support/test.ts";
import { at, Fake, id, open, world } from "./stage.ts";
import { Developer, newcomer } from "./support.ts";

test("a tab with an outdated webhook shows the other tab's edit and keeps it", async ({ page, run, context }) => {
  const developer = new Developer(page);
  await page.goto(run.dashboard_url);
  await developer.signIn(run, newcomer());
  await developer.found("Alder Health");
  await developer.link("Webhooks");
  await developer.button("New webhook");
  await developer.type("URL", `${run.inbox_url}/${randomUUID()}`);
  await developer.button("Add webhook");
  await developer.link("Next: send a test event");
  await developer.link("Settings");
  await page.getByLabel("Attempts per second").waitFor();
  const other = await context.newPage();
  await other.goto(page.url());
  await other.getByLabel("Export running").check();
  await other.getByRole("button", { name: "Save" }).click();
  await expect(other.getByText("Saved.")).toBeVisible();

  await developer.type("Attempts per second", "20");
  await developer.button("Save");
  await expect(page.getByRole("alert").filter({ hasText: "This webhook changed" })).toBeVisible();
  const differences = page.getByRole("table", { name: "Differences" });
  await expect(differences.getByRole("row", { name: "Events" })).toContainText("Added: patient.ehi_export_progress");
  await expect(differences.getByRole("row", { name: "Events" })).toContainText("Not changed");
  await expect(differences.getByRole("row", { name: "Attempts per second" })).toContainText("20");
  await expect(page.getByLabel("Attempts per second")).toHaveValue("20");
  await look(page, "dashboard-conflict", "en");
  await developer.button("Save my changes");
  await expect(page.getByText("Saved.")).toBeVisible();
  await expect(differences).toHaveCount(0);
  await other.reload();
  await expect(other.getByLabel("Export running")).toBeChecked();
  await expect(other.getByLabel("Attempts per second")).toHaveValue("20");
});

test("after a conflict, a user can discard changes to branding or a credential", async ({ page, run }) => {
  const fake = new Fake(world());
  await open(page, run, at("branding"), fake);
  await page.getByLabel("Font", { exact: true }).fill("Georgia");
  Object.assign(fake.world.organisation, { version: "7", font: "serif", terms_uri: "https://alder.example/terms" });
  await page.getByRole("button", { name: "Save" }).click();
  const differences = page.getByRole("table", { name: "Differences" });
  await expect(differences.getByRole("row", { name: "Font" })).toContainText("serif");
  await expect(differences.getByRole("row", { name: "Font" })).toContainText("Georgia");
  await expect(page.getByLabel("Terms")).toHaveValue("https://alder.example/terms");
  await page.getByRole("button", { name: "Use current values" }).click();
  await expect(page.getByLabel("Font", { exact: true })).toHaveValue("serif");
  await expect(differences).toHaveCount(0);
  expect(fake.world.organisation.font).toBe("serif");

  await open(page, run, at(`credentials/public_test_${id(101)}`), fake);
  const redirects = page.getByLabel("Redirect URIs, one per line");
  await redirects.fill("https://mine.example/");
  const [credential] = fake.world.credentials;
  Object.assign(credential!, { version: "7", redirect_uris: ["https://theirs.example/"] });
  await page.getByRole("button", { name: "Save" }).click();
  await expect(differences.getByRole("row", { name: "Redirect URIs" })).toContainText("Added: https://theirs.example/");
  await expect(redirects).toHaveValue("https://mine.example/");
  await page.getByRole("button", { name: "Use current values" }).click();
  await expect(redirects).toHaveValue("https://theirs.example/");
  expect(credential!.redirect_uris).toEqual(["https://theirs.example/"]);
});

test("arrow keys choose a role without changing it, and a role that changed meanwhile is confirmed", async ({
  page,
  run,
}) => {
  const fake = await open(page, run, at("members"), world());
  const patches = (): number => fake.asked.filter((one) => one.startsWith("PATCH")).length;
  const role = page.getByLabel("Role of grace@alder.example", { exact: true });
  await role.focus();
  await page.keyboard.press("ArrowUp");
  await expect(role).toHaveValue("admin");
  const change = page.getByRole("button", { name: "Role of grace@alder.example: change to admin" });
  await expect(change).toBeVisible();
  expect(patches()).toBe(0);

  const [, grace] = fake.world.members;
  Object.assign(grace!, { version: "7", role: "viewer" });
  await change.click();
  const dialog = page.getByRole("dialog", { name: "Role of grace@alder.example" });
  await expect(dialog.getByRole("row", { name: "Role" })).toContainText("viewer");
  await look(page, "dashboard-conflict-role", "en");
  await dialog.getByRole("button", { name: "Save my changes" }).click();
  await expect(page.getByText("Role changed.")).toBeVisible();
  await expect(dialog).toHaveCount(0);
  expect([grace!.role, patches()]).toEqual(["admin", 2]);
});

test("a signing secret is rotated only after confirmation, and revoking old secrets is labelled", async ({
  page,
  run,
}) => {
  const fake = await open(page, run, at(`webhooks/${id(201)}?section=signing`), world());
  const rotations = (): number => fake.asked.filter((one) => one.endsWith("/secret/rotate")).length;
  await page.getByRole("button", { name: "Rotate" }).click();
  const dialog = page.getByRole("dialog", { name: "Rotate signing secret" });
  await dialog.getByLabel("Revoke old secrets immediately").check();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect(rotations()).toBe(0);
  await page.getByRole("button", { name: "Rotate" }).click();
  await expect(dialog.getByLabel("Revoke old secrets immediately")).not.toBeChecked();
  await dialog.getByLabel("Revoke old secrets immediately").check();
  await dialog.getByRole("button", { name: "Revoke and rotate" }).click();
  await expect(page.getByText("whsec_")).toBeVisible();
  await expect(page.getByText("Events are signed only with the current secret.")).toBeVisible();
  expect(rotations()).toBe(1);
});
