/** Tests the dashboard with the real service, as a customer's team that starts with its first sign-in code. */
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Download } from "@playwright/test";
import { look } from "../support/looks.ts";
import { mailedCode, Patient } from "../support/patient.ts";
import type { Run } from "../support/run.ts";
import { expect, test } from "../support/test.ts";
import { Developer, lookUntil, newcomer, Receiver } from "./support.ts";

/** Maximum clicks from the sign-in page to the first verified webhook. */
const MOST_PRESSES = 14;

/** Screens that show records or connections. */
const PLACES_OF_RECORDS = ["Overview", "Playground", "Deliveries", "Connections", "Exports", "Usage", "Inbox"];

const OTHER_PLACES = ["Credentials", "Webhooks", "Going live", "Branding", "Members", "Audit log", "Your account"];

test("a new customer can sign up, export a record and replay a delivery", async ({ page, run, context }) => {
  test.setTimeout(400_000);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const receiver = await Receiver.start();
  await page.goto(run.dashboard_url);
  const developer = new Developer(page);
  await developer.signIn(run, newcomer());
  await developer.found("Alder Health");

  await developer.link(/Create a credential/);
  await developer.button("New credential");
  await developer.button("Create credential");
  await developer.button("Copy as .env file");
  const env = await page.evaluate(() => navigator.clipboard.readText());
  const [, base = ""] = /^RECORDBRIDGE_BASE_URL=(.*)$/m.exec(env) ?? [];
  const [, publicId = ""] = /^RECORDBRIDGE_PUBLIC_ID=(.*)$/m.exec(env) ?? [];
  const [, privateKey = ""] = /^RECORDBRIDGE_PRIVATE_KEY=(.*)$/m.exec(env) ?? [];

  await developer.link("Next: add a webhook");
  await developer.button("New webhook");
  await developer.type("URL", receiver.url);
  await developer.button("Add webhook");
  await developer.button("Copy signing secret");
  receiver.secret = await page.evaluate(() => navigator.clipboard.readText());
  await developer.link("Next: send a test event");
  await developer.button("Send test event");
  await developer.link("View delivery");
  await lookUntil(page, "delivered");
  developer.tell("first use", test.info());
  expect(receiver.received).toMatchObject([{ type: "webhook.test", isVerified: true }]);
  expect(developer.clicks).toBeLessThanOrEqual(MOST_PRESSES);
  expect(developer.seconds()).toBeLessThan(300);

  await developer.button("Replay");
  await lookUntil(page, /manual/, 2); // the first delivery is the test event
  const [first, again] = receiver.received;
  expect(again).toEqual(first); // the same ID, so that a receiver recognises it

  await developer.link("Playground");
  const opening = context.waitForEvent("page");
  await developer.link(/Open playground/);
  const playground = await opening;
  await playground.getByLabel("search-only").check();
  const patient = new Patient(playground);
  await patient.open();
  await patient.connect();
  await patient.finish();
  await playground.close();

  await developer.link("Connections");
  await page.getByRole("table", { name: "Connections" }).getByRole("link").first().click();
  await expect(page.getByText("The patient connected.")).toBeVisible();
  const connection = new URL(page.url()).hash.split("/").at(-1);
  const asked = await fetch(`${base}/bridge/fhir/ehi-export`, {
    method: "POST",
    headers: {
      Authorization: `Basic ${Buffer.from(`${publicId}:${privateKey}`).toString("base64")}`,
      "Content-Type": "application/json",
    },
    body: JSON.stringify({ org_connection_id: connection }),
  });
  expect(asked.status).toBe(200);

  await developer.link("Exports");
  await page.getByRole("table", { name: "Exports" }).getByRole("link").first().click();
  await lookUntil(page, "success");
  await expect(
    page.getByRole("table", { name: "Resource types" }).getByText("Patient", { exact: false }).first(),
  ).toBeVisible();
  await look(page, "dashboard-real-export", "en");
  await developer.link("View deliveries");
  await page.getByRole("link", { name: "patient.ehi_export_success" }).click();
  await lookUntil(page, "delivered");
  await look(page, "dashboard-real-delivery", "en");
  expect(receiver.received.map(({ type }) => type)).toContain("patient.ehi_export_success");
  expect(receiver.received.every(({ isVerified }) => isVerified)).toBe(true);
  receiver.stop();

  await lookAt(developer, PLACES_OF_RECORDS);
  await developer.link("Institutions");
  await developer.type("Name, city or ZIP code", "sandbox");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("row", { name: /Sandbox/ }).first()).toBeVisible();
  await developer.link("Usage");
  const saving = page.waitForEvent("download");
  await developer.button("Download CSV");
  expect(await text(await saving)).toMatch(/^month,connections,.*\n/);
  await developer.link("Audit log");
  const exporting = page.waitForEvent("download");
  await developer.button("Export");
  expect(
    (await text(await exporting))
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { action: string }).action),
  ).toContain("delivery.replayed");

  const place = `${run.dashboard_url}${new URL(page.url()).hash.replace(/audit$/, `connections/${connection}`)}`;
  await page.goto(place);
  await developer.button("Erase");
  await developer.type(/^Type/, String(connection).slice(0, 8));
  await developer.press(page.getByRole("dialog").getByRole("button", { name: "Erase" }));
  await expect(page.getByRole("heading", { name: "Erasure in progress" })).toBeVisible();
  await erase(run);
  await lookAt(developer, OTHER_PLACES); // the eraser waits a minute before it continues
  await page.goto(place);
  const erased = page.getByRole("heading", { name: "Erasure in progress" });
  await expect(async () => {
    await erase(run);
    await page.reload(); // the page shows the connection as long as the connection exists
    await expect(erased).toBeVisible({ timeout: 3_000 });
  }).toPass();
  await expect(async () => {
    await erase(run);
    await developer.button("Refresh");
    await expect(page.getByText("looking", { exact: true })).toBeVisible({ timeout: 1_000 });
  }).toPass();
  await expect(page.getByText(/1 connections, 1 tokens, 1 exports/)).toBeVisible();
  await look(page, "dashboard-real-erasure", "en");
});

test("a disabled webhook shows its reason and replays missed events", async ({ page, run }) => {
  const receiver = await Receiver.start();
  await page.goto(run.dashboard_url);
  const developer = new Developer(page);
  await developer.signIn(run, newcomer());
  await developer.found("Cedar Care");
  await developer.link("Webhooks");
  await developer.button("New webhook");
  await developer.type("URL", receiver.url);
  await developer.button("Add webhook");
  receiver.secret = (await page.locator("code.value").textContent()) ?? "";
  receiver.status = 410;
  await developer.link("Next: send a test event");
  await developer.button("Send test event");
  await developer.link("View delivery");
  await lookUntil(page, "Your endpoint returned 410 Gone, so we disabled the webhook.");
  await look(page, "dashboard-real-failed", "en");

  await page.setViewportSize({ width: 1280, height: 860 });
  await developer.link("Overview");
  await expect(page.getByText("A webhook is disabled:")).toBeVisible();
  await developer.link("See why");
  await expect(page.getByText("Your endpoint returned 410 Gone.")).toBeVisible();
  receiver.status = 204;
  await developer.button("Enable and replay");
  await expect(page.getByText("Webhook enabled. Replaying 1 delivery.")).toBeVisible();
  await lookUntil(page, "delivered");
  expect(receiver.received.at(-1)).toEqual({ ...receiver.received[0], isVerified: true });
  receiver.stop();
});

test("an invited member joins with the invited role", async ({ page, run, browser }) => {
  const email = newcomer();
  const owner = new Developer(page);
  await page.goto(run.dashboard_url);
  await owner.signIn(run, email);
  await owner.found("Birch Labs");
  await owner.link("Members");
  const invited = email.replace("ada@", "grace@");
  await owner.type("Email", invited);
  await page.getByLabel("Role", { exact: true }).selectOption("viewer");
  await owner.button("Invite");
  await expect(page.getByRole("table", { name: "Open invitations" })).toContainText(invited);

  const context = await browser.newContext();
  const grace = new Developer(await context.newPage());
  await grace.page.goto(await mailedLink(run, invited));
  await grace.signIn(run, invited);
  await grace.button("Accept invitation");
  await grace.link("Credentials");
  await expect(grace.page.getByText("An owner or admin can create a credential.")).toBeVisible();
  expect(grace.page.url()).not.toContain("invitation");
  await context.close();
});

test("an authenticator app is required at the next sign-in", async ({ page, run }) => {
  const email = newcomer();
  const developer = new Developer(page);
  await page.goto(`${run.dashboard_url}#/account`);
  await developer.signIn(run, email);
  await developer.button("Set up");
  await expect(page.getByRole("img", { name: "QR code" })).toBeVisible();
  await look(page, "dashboard-generator", "en");
  const shown = (await page.locator("code.value").textContent()) ?? "";
  await developer.type("Code from your authenticator app", codeOf(shown, 0));
  await developer.button("Turn on");
  await expect(page.getByText("Authenticator app turned on.")).toBeVisible();
  await developer.saveRecoveryCodes();
  await developer.signOut();
  await developer.signIn(run, email);
  await expect(page.getByRole("heading", { name: "One more step" })).toBeVisible();
  await look(page, "dashboard-second-factor", "en");
  await developer.type("Authenticator code", codeOf(shown, 1));
  await developer.button("Continue");
  await expect(page.getByRole("heading", { name: "Your account" })).toBeVisible();
});

test("an owner can restore a changed email address without signing in", async ({ page, run, browser }) => {
  const email = newcomer();
  const thief = new Developer(page);
  await page.goto(`${run.dashboard_url}#/account`);
  await thief.signIn(run, email);
  const other = email.replace("ada@", "eve@");
  await thief.type("New email address", other);
  await thief.button("Send code");
  const label = `Code sent to ${other}`;
  await page.getByLabel(label).waitFor();
  await thief.type(label, await mailedCode(run, other));
  await thief.button("Change address");
  await expect(page.getByText("Email address changed.")).toBeVisible();

  const context = await browser.newContext();
  const ada = new Developer(await context.newPage());
  await ada.page.goto(await mailedLink(run, email));
  await expect(ada.page.getByRole("heading", { name: "Restore your email address" })).toBeFocused();
  await look(ada.page, "dashboard-restore", "en");
  await ada.button("Restore email address");
  await expect(ada.page.getByText("Email address restored.")).toBeVisible();
  expect(ada.page.url()).toBe(`${run.dashboard_url}#/restore`);
  await ada.button("Sign in");
  await expect(ada.page.getByLabel("Work email")).toBeVisible();
  await context.close();

  await page.reload();
  await thief.signIn(run, email); // with the code sent to the owner's address
  await expect(page.getByText(email).first()).toBeVisible();
  await expect(page.getByText(other)).toHaveCount(0);
});

/** Opens screens and checks their appearance. */
async function lookAt({ page, link }: Developer, places: string[]): Promise<void> {
  for (const name of places) {
    await page.setViewportSize({ width: 1280, height: 860 });
    await link(name);
    await expect(page.getByRole("heading", { level: 1, name, exact: true })).toBeFocused();
    await expect(page.getByText("Loading", { exact: true })).toHaveCount(0);
    await expect(page.getByText("Quick start"), "all of it is done").toHaveCount(0);
    await look(page, `dashboard-real-${name.toLowerCase().replaceAll(" ", "-")}`, "en");
  }
  await page.setViewportSize({ width: 1280, height: 860 });
}

/** Runs the eraser now. */
async function erase(run: Run): Promise<void> {
  await fetch(`${run.console_url}/api/functions/EraserFunction/fire`, { method: "POST" });
}

async function text(download: Download): Promise<string> {
  return readFileSync(await download.path(), "utf8");
}

/** Returns the newest dashboard link sent to an address. */
async function mailedLink(run: Run, email: string): Promise<string> {
  const response = await fetch(`${run.console_url}/api/mail`);
  const { mails } = (await response.json()) as { mails: { to: string[]; text: string; at: string }[] };
  const found = mails.filter(({ to }) => to.includes(email)).sort((a, b) => b.at.localeCompare(a.at))[0];
  const [link = ""] = /http\S+#\/(invitation|restore)\/\S+/.exec(found?.text ?? "") ?? [];
  expect(link).toContain(`${run.dashboard_url}#/`);
  return link;
}

/** Returns an authenticator code (RFC 6238) that is the given number of steps ahead. Each code works only once. */
function codeOf(secret: string, ahead: number): string {
  const bits = [...secret.replace(/[\s=]/g, "")]
    .map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0"))
    .join("");
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + ahead));
  const mac = createHmac("sha1", key).update(counter).digest();
  const at = (mac[19] ?? 0) & 15;
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}
