/** Tests every screen with data, without data and after a failure, in every form factor (support/looks.ts). */
import { findings } from "../support/axe.ts";
import { isBrief, look } from "../support/looks.ts";
import { expect, test } from "../support/test.ts";
import { at, crowd, Fake, id, open, world } from "./stage.ts";

const SCREENS: [name: string, place: string, title: string][] = [
  ["overview", at(""), "Overview"],
  ["credentials", at("credentials"), "Credentials"],
  ["credential", at(`credentials/public_test_${id(101)}`), "Credential"],
  ["webhooks", at("webhooks"), "Webhooks"],
  ["webhook", at(`webhooks/${id(201)}`), "Webhook"],
  ["webhook-disabled", at(`webhooks/${id(202)}`), "Webhook"],
  ["webhook-signing", at(`webhooks/${id(201)}?section=signing`), "Webhook"],
  ["webhook-settings", at(`webhooks/${id(201)}?section=settings`), "Webhook"],
  ["webhook-removal", at(`webhooks/${id(201)}?section=removal`), "Webhook"],
  ["playground", at("playground"), "Playground"],
  ["going-live", at("going-live"), "Going live"],
  ["deliveries", at("deliveries"), "Deliveries"],
  ["delivery", at(`deliveries/${id(402)}`), "Delivery"],
  ["connections", at("connections"), "Connections"],
  ["connection", at(`connections/${id(502)}`), "Connection"],
  ["connection-erased", at(`connections/${id(599)}`), "Connection"],
  ["exports", at("exports"), "Exports"],
  ["export", at(`exports/${"0".repeat(31)}1`), "Export"],
  ["export-pending", at(`exports/${"0".repeat(31)}3`), "Export"],
  ["institutions", at("institutions"), "Institutions"],
  ["logs", at("logs"), "Logs"],
  ["logs-request", at(`logs?request_id=${id(901)}`), "Logs"],
  ["logs-sign-ins", at("logs/sign-ins"), "Logs"],
  ["logs-sign-in", at(`logs/sign-ins?request_id=${id(912)}`), "Logs"],
  ["usage", at("usage"), "Usage"],
  ["inbox", at("inbox"), "Inbox"],
  ["inquiry", at(`inbox/${id(701)}`), "Request"],
  ["branding", at("branding"), "Branding"],
  ["members", at("members"), "Members"],
  ["audit", at("audit"), "Audit log"],
  ["account", at("account"), "Your account"],
  ["nowhere", at("nowhere"), "Page not found"],
  ["invitation", "invitation/abc", "You’ve been invited"],
  ["restore", "restore/abc", "Restore your email address"],
  ["new", "new", "Create an organisation"],
];

for (const [name, place, title] of SCREENS) {
  test(`${name} is accessible at every viewport size`, async ({ page, run }) => {
    await open(page, run, place, world());
    await expect(page.getByRole("heading", { level: 1, name: title, exact: true })).toBeFocused();
    await expect(page.getByText("Loading", { exact: true })).toHaveCount(0);
    await look(page, `dashboard-${name}`, "en");
    expect(await page.evaluate(() => window.broken)).toEqual([]);
  });
}

test("an empty list suggests a first step, and a list that fails to load shows the request ID", async ({
  page,
  run,
}) => {
  const empty = world(true);
  empty.session.organisations = world().session.organisations;
  for (const [screen, text] of [
    ["credentials", "no credential"],
    ["webhooks", "no webhook"],
    ["deliveries", "No deliveries yet"],
    ["connections", "No patient"],
    ["exports", "No exports yet"],
    ["logs", "No API requests yet"],
    ["logs/sign-ins", "No patients have signed in yet"],
    ["inbox", "No requests yet"],
    ["playground", "need a public ID"],
    ["audit", "No changes yet"],
  ] as const) {
    await open(page, run, at(screen), empty);
    await expect(page.getByText(text)).toBeVisible();
    expect(await findings(page), screen).toEqual([]);
  }
  const fake = await open(page, run, at("webhooks"), world());
  await expect(page.getByRole("link", { name: "https://app.example/webhooks/records" })).toBeVisible();
  fake.refuse = { status: 503, code: "svc_unavailable", text: "The service is busy. Please try again." };
  await page.getByRole("link", { name: "Exports" }).click();
  await expect(page.getByRole("alert").filter({ hasText: "The service is busy" })).toContainText(id(99));
  await look(page, "dashboard-trouble", "en");
  fake.refuse = undefined;
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("table", { name: "Exports" })).toBeVisible();
});

/** The screens with lists. Brief mode checks one of them, because all lists share their table. */
const LISTS = isBrief
  ? ["deliveries"]
  : ["credentials", "webhooks", "deliveries", "connections", "exports", "inbox", "members", "audit"];

for (const screen of LISTS) {
  test(`${screen} is accessible with no rows and with 100 rows`, async ({ page, run }) => {
    const empty = world(true);
    empty.session.organisations = world().session.organisations;
    for (const [rows, of] of [
      ["empty", empty],
      ["crowded", crowd()],
    ] as const) {
      await open(page, run, at(screen), of);
      await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
      await expect(page.getByText("Loading", { exact: true })).toHaveCount(0);
      await look(page, `dashboard-${screen}-${rows}`, "en");
    }
  });
}

test("members see only the actions that their role permits", async ({ page, run }) => {
  const of = world();
  for (const member of of.session.organisations) member.role = "viewer";
  await open(page, run, at(`webhooks/${id(201)}`), of);
  await expect(page.getByRole("heading", { name: "Status" })).toBeVisible();
  for (const name of ["Reveal", "Send test event", "Remove", "Disable"])
    await expect(page.getByRole("button", { name })).toHaveCount(0);
  for (const name of ["Inbox", "Audit log"])
    await expect(page.getByRole("navigation").getByRole("link", { name })).toHaveCount(0);
  of.session.organisations[0]!.role = "developer";
  await open(page, run, at("credentials", "live"), of);
  await expect(page.getByText("An owner or admin")).toBeVisible();
  await expect(page.getByRole("button", { name: "New credential" })).toHaveCount(0);
});

test("a secret is revealed after reauthentication, and an expired session opens the sign-in page", async ({
  page,
  run,
}) => {
  const of = world();
  of.session.account.passkeys = [];
  const fake = new Fake(of);
  fake.wantsProof = true;
  await open(page, run, at(`webhooks/${id(201)}?section=signing`), fake);
  await page.getByRole("button", { name: "Reveal" }).click();
  const dialog = page.getByRole("dialog", { name: "Confirm it’s you" });
  await dialog.getByRole("button", { name: "Send code" }).click();
  await dialog.getByLabel("Code").fill("12 34 56");
  expect(await findings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Continue" }).click();
  await expect(page.getByText("whsec_")).toBeVisible();
  fake.refuse = { status: 401, code: "svc_session_required", text: "Sign in to continue." };
  await page.getByRole("link", { name: "Exports" }).click();
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await look(page, "dashboard-sign-in", "en");
});

test("text typed before the session expired is still there after the same person signs in", async ({ page, run }) => {
  const fake = await open(page, run, at(`webhooks/${id(201)}?section=settings`), world());
  await page.getByLabel("Note").fill("Our main receiver");
  fake.refuse = { status: 401, code: "svc_session_required", text: "Sign in to continue." };
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Your session has expired.")).toBeVisible();
  await expect(page.getByLabel("Note")).toBeHidden();
  fake.refuse = undefined;
  await page.getByLabel("Work email").fill("ada@alder.example");
  await page.getByRole("button", { name: "Send code" }).click();
  await page.getByLabel("Code").fill("123456");
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(page.getByLabel("Note")).toHaveValue("Our main receiver");
  await expect(page.getByRole("heading", { level: 1, name: "Webhook" })).toBeFocused();
});

test("leaving a page asks for confirmation if text is unsaved or a key hasn't been copied", async ({ page, run }) => {
  const asked: string[] = [];
  let answer: "dismiss" | "accept" = "dismiss";
  page.on("dialog", (dialog) => {
    asked.push(dialog.type());
    void dialog[answer]();
  });
  await open(page, run, at(`webhooks/${id(201)}?section=settings`), world());
  await page.getByLabel("Note").fill("Our main receiver");
  await page.getByRole("link", { name: "Exports" }).click();
  await expect(page.getByLabel("Note")).toHaveValue("Our main receiver");
  expect(page.url()).toContain("section=settings");
  answer = "accept";
  await page.getByRole("link", { name: "Credentials" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Credentials" })).toBeVisible();
  expect(asked).toEqual(["confirm", "confirm"]);
  await page.getByRole("button", { name: "New credential" }).click();
  await page.getByRole("button", { name: "Create credential" }).click();
  await expect(page.getByText("You won’t see it again.")).toBeVisible();
  answer = "dismiss";
  await page.getByRole("link", { name: "Exports" }).click();
  await expect(page.getByText("You won’t see it again.")).toBeVisible();
  await page.getByRole("button", { name: "Copy private key" }).click();
  await page.getByRole("link", { name: "Exports" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Exports" })).toBeVisible();
  expect(asked).toHaveLength(3);
});

test("an irreversible action requires the object's name", async ({ page, run }) => {
  const fake = await open(page, run, at(`connections/${id(501)}`), world());
  await page.getByRole("button", { name: "Erase" }).click();
  const dialog = page.getByRole("dialog", { name: "Erase connection" });
  await look(page, "dashboard-confirm", "en");
  await dialog.getByLabel("Type").fill("yes");
  await dialog.getByRole("button", { name: "Erase" }).click();
  await expect(dialog.getByRole("alert")).toContainText("Type 00000000");
  expect(fake.asked.filter((one) => one.startsWith("POST"))).toEqual([]);
  await dialog.getByLabel("Type").fill("00000000");
  await dialog.getByRole("button", { name: "Erase" }).click();
  await expect(page.getByRole("heading", { name: "Erasure in progress" })).toBeVisible();
  await expect(page.getByText("not found")).toHaveCount(0);
});

test("the dashboard redirects to its own host and preserves the route", async ({ page, run }) => {
  expect(new URL(run.base_url).host).not.toBe(new URL(run.dashboard_url).host);
  const place = `#/${at("webhooks")}`;
  await page.goto(`${run.base_url}/dashboard${place}`);
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  expect(page.url()).toBe(run.dashboard_url + place);
});
