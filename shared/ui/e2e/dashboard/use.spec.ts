/** Uses the dashboard by keyboard, on a phone, and through search. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { look } from "../support/looks.ts";
import { mailedCode } from "../support/patient.ts";
import { expect, test } from "../support/test.ts";
import { newcomer } from "./support.ts";
import { at, id, open, world } from "./stage.ts";

test("a user can sign in and send a test event with only the keyboard", async ({ page, run }) => {
  const email = newcomer();
  await page.goto(run.dashboard_url);
  const { keyboard } = page;
  const focused = page.locator(":focus");
  const to = async (name: string | RegExp): Promise<void> => {
    for (let steps = 0; steps < 60; steps += 1) {
      await keyboard.press("Tab");
      const found = await focused.evaluate(
        (element: HTMLElement) =>
          (element as HTMLInputElement).labels?.[0]?.textContent ??
          element.getAttribute("aria-label") ??
          element.textContent ??
          "",
      );
      if (typeof name === "string" ? found.trim() === name : name.test(found)) {
        const outline = await focused.evaluate((element) => getComputedStyle(element).outlineStyle);
        expect(outline, `${name} shows the focus`).not.toBe("none");
        return;
      }
    }
    throw new Error(`the keyboard does not reach ${name}`);
  };
  await page.getByLabel("Work email").waitFor();
  await to("Work email");
  await keyboard.type(email);
  await keyboard.press("Enter");
  await expect(page.getByLabel("Code")).toBeFocused();
  await keyboard.type(await mailedCode(run, email));
  await keyboard.press("Enter");
  await page.getByLabel("Organisation name").waitFor();
  await to("Organisation name");
  await keyboard.type("Alder Health");
  await keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: "Overview" })).toBeFocused();

  await keyboard.press("Control+k");
  await page.keyboard.type("web");
  await keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: "Webhooks" })).toBeFocused();
  await keyboard.press("Shift+Tab"); // the last navigation link, which precedes the content
  await to("New webhook");
  await keyboard.press("Enter");
  await to("URL");
  await keyboard.type(`${run.inbox_url}/${randomUUID()}`);
  await keyboard.press("Enter");
  await expect(page.getByText("whsec_")).toBeVisible();
  await to("Next: send a test event");
  await keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: "Webhook" })).toBeFocused();
  await to("Event");
  await to("Send test event");
  await keyboard.press("Enter");
  await page.getByText(/Your endpoint responded with status 2\d\d/).waitFor();
  await to("View delivery");
  await keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: "Delivery" })).toBeFocused();
  await expect(async () => {
    await to("Refresh");
    await keyboard.press("Enter");
    await expect(page.getByText("delivered", { exact: true })).toBeVisible({ timeout: 1_000 });
  }).toPass();
});

test("command search opens screens and objects, and restores focus when closed", async ({ page, run }) => {
  await open(page, run, at(""), world());
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type(id(501));
  await expect(page.getByRole("listbox").getByRole("option").first()).toContainText("Connection");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: "Connection" })).toBeFocused();
  await page.getByRole("button", { name: "Search" }).press("Enter");
  await page.keyboard.type("zq");
  await expect(page.getByText("No results")).toBeVisible();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("Patient 7");
  await expect(page.getByRole("option", { name: "Connections of “Patient 7”" })).toBeVisible();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("e");
  await look(page, "dashboard-search", "en");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: "Search" })).toBeFocused();
});

test("the delivery page shows the outcome of a running attempt without a reload", async ({ page, run }) => {
  const all = world();
  const [running] = all.deliveries;
  running!.status = "inflight";
  await page.clock.install();
  await open(page, run, at(`deliveries/${running!.delivery_id}`), all);
  await expect(page.getByText("inflight", { exact: true })).toBeVisible();
  running!.status = "delivered";
  await page.clock.runFor(2_000);
  await expect(page.getByText("delivered", { exact: true })).toBeVisible();
});

test("institutions can be searched by name, and show the health of their portals", async ({ page, run }) => {
  const fake = await open(page, run, at("institutions"), world());
  await expect(page.getByRole("row")).toHaveCount(5);
  await page.getByLabel("Name, city or ZIP code").fill("cedar");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("row")).toHaveCount(2);
  await expect(page.getByRole("row", { name: /Cedar Medical Center.*down/ })).toBeVisible();
  expect(page.url()).toContain("?q=cedar");
  expect(fake.asked).toContain("POST bridge/catalog/search");
  await page.getByLabel("Name, city or ZIP code").fill("yew");
  await page.keyboard.press("Enter");
  await expect(page.getByText("No institutions match this search.")).toBeVisible();
});

test("on a phone, navigation is a menu, and switching modes keeps the current screen", async ({ page, run }) => {
  await page.setViewportSize({ width: 375, height: 700 });
  await open(page, run, at("webhooks"), world());
  await expect(page.getByRole("navigation")).toBeHidden();
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("link", { name: "Credentials" }).click();
  await expect(page.getByRole("navigation")).toBeHidden();
  await page.getByRole("group", { name: "Mode" }).getByRole("link", { name: "Live" }).click();
  await expect(page.getByText("Live mode: real patients")).toBeVisible();
  await expect(page.getByRole("heading", { level: 1, name: "Credentials" })).toBeFocused();
  expect(page.url()).toContain("/live/credentials");
});

test("filters are stored in the URL fragment and sent as query parameters", async ({ page, run }) => {
  const fake = await open(page, run, at("deliveries"), world());
  await page.getByLabel("Status").selectOption("exhausted");
  await expect(page.getByRole("row")).toHaveCount(2);
  expect(page.url()).toContain("?status=exhausted");
  await page.goBack();
  await expect(page.getByRole("row")).toHaveCount(5);
  const pending = page.getByRole("row", { name: /scheduled/ });
  await expect(pending.getByRole("cell", { name: "app.example" })).toBeVisible();
  await expect(pending.getByRole("cell", { name: "503" })).toBeVisible();
  await expect(pending.getByRole("cell", { name: /^2, next in / })).toBeVisible(); // attempts made
  await page.getByLabel("Event id").fill(id(301));
  await page.getByLabel("Event id").press("Enter");
  await expect(page.getByRole("row")).toHaveCount(2);
  expect(fake.asked.every((one) => !one.includes("#"))).toBe(true);
});

test("the audit log can be filtered, and shows changes and names", async ({ page, run }) => {
  const fake = await open(page, run, at("audit"), world());
  const row = page.getByRole("row", { name: /Changed a webhook(?!’)/ });
  await expect(row.getByRole("cell", { name: "ada@alder.example from 203.0.113.0/24" })).toBeVisible();
  await expect(row.getByRole("listitem")).toHaveText([
    "Attempts per second: default → 5",
    "Event type: removed patient.ehi_export_progress",
    "Header: added Authorization",
    "Header values: replaced",
  ]);
  await expect(row.getByRole("link", { name: "app.example" })).toHaveAttribute(
    "href",
    `#/${at(`webhooks/${id(201)}`)}`,
  );
  const removed = page.getByRole("row", { name: /Removed a webhook/ });
  await expect(removed.getByRole("cell", { name: id(299) })).toBeVisible();
  await expect(removed.getByRole("link")).toHaveCount(0);
  await expect(
    page.getByRole("row", { name: /role/ }).getByRole("cell", { name: "grace@alder.example" }),
  ).toBeVisible();
  await page.getByLabel("Changed object").selectOption("Webhooks");
  await expect(page.getByRole("row")).toHaveCount(4);
  await page.getByLabel("Actor").selectOption("grace@alder.example");
  await expect(page.getByRole("row")).toHaveCount(2);
  expect(page.url()).toContain(`?action=webhook.&actor=member%3A${id(12)}`);
  await page.reload();
  await expect(page.getByRole("row")).toHaveCount(2);
  await page.getByLabel("Target ID").fill(id(201));
  await page.getByLabel("Target ID").press("Enter");
  await expect(page.getByText("No changes match these filters.")).toBeVisible();
  await page.getByRole("link", { name: "Show all" }).click();
  await expect(page.getByRole("row")).toHaveCount(7);
  expect(fake.asked.every((one) => !one.includes("?"))).toBe(true);
});

test("a filtered page of the audit log without matches offers older pages", async ({ page, run }) => {
  const of = world();
  const [latest] = of.audit;
  of.audit.unshift(...Array.from({ length: 60 }, (_, n) => ({ ...latest!, seq: 66 - n, target: id(900) })));
  await open(page, run, at(`audit?target=${id(201)}`), of);
  await expect(page.getByText("No matching changes found so far.")).toBeVisible();
  await page.getByRole("button", { name: "Show older" }).click();
  await expect(page.getByRole("row")).toHaveCount(3);
  expect(page.url()).toContain(`?target=${id(201)}&cursor=17`);
});

test("a search that stopped early shows its date and continues", async ({ page, run }) => {
  await open(page, run, at("deliveries"), { ...world(), searchedTo: "2026-03-04T05:06:07Z" });
  await page.getByLabel("Status").selectOption("inflight");
  await expect(page.getByText("Searched back to")).toBeVisible();
  await expect(page.getByText("No deliveries match")).toBeHidden();
  await page.getByRole("button", { name: "Continue searching" }).click();
  await expect(page.getByText("No deliveries match these filters.")).toBeVisible();
});

test("the filtered deliveries can be exported as CSV and NDJSON", async ({ page, run }) => {
  await open(page, run, at("deliveries"), world());
  await page.getByLabel("Status").selectOption("exhausted");
  await expect(page.getByRole("row")).toHaveCount(2);
  for (const format of ["csv", "ndjson"]) {
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: `Export ${format.toUpperCase()}` }).click();
    const saved = await saving;
    expect(saved.suggestedFilename()).toMatch(new RegExp(`^deliveries-.*\.${format}$`));
    const lines = readFileSync(await saved.path(), "utf8")
      .trim()
      .split("\n");
    expect(lines).toHaveLength(format === "csv" ? 2 : 1);
    expect(lines.at(-1)).toContain("exhausted");
    expect(lines.join()).not.toContain("hello"); // part of the body
  }
});

test("a failed request and its details have a URL, and command search finds a sign-in by request ID", async ({
  page,
  run,
}) => {
  await open(page, run, at("logs"), world());
  await expect(page.getByRole("row")).toHaveCount(3);
  await page.getByLabel("Status").selectOption("failed");
  await expect(page.getByRole("row")).toHaveCount(2);
  await page.getByRole("link", { name: "POST /bridge/fhir/ehi-export" }).click();
  await expect(page.getByRole("heading", { name: "POST /bridge/fhir/ehi-export" })).toBeVisible();
  await expect(page.getByText("svc_not_found")).toBeVisible();
  expect(page.url()).toContain(`logs?request_id=${id(901)}`);
  await page.getByRole("searchbox", { name: "Request ID" }).fill(id(912));
  await page.getByRole("searchbox", { name: "Request ID" }).press("Enter");
  await expect(page.getByText("The log omits requests with an unknown or wrong key.")).toBeVisible();
  await page.getByRole("link", { name: "Search sign-ins" }).click();
  await expect(page.getByText("no_answer")).toBeVisible();
  await page.getByRole("navigation", { name: "Logs" }).getByRole("link", { name: "Sign-ins" }).click();
  await expect(page.getByRole("row")).toHaveCount(3);
  await page.getByLabel("External ID").fill("patient-7");
  await page.getByLabel("External ID").press("Enter");
  await expect(page).toHaveURL(/logs\/sign-ins\?external_id=patient-7$/);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search pages or enter an ID" }).fill(id(912));
  await page
    .getByRole("option", { name: /Sign-in/ })
    .first()
    .click();
  await expect(page.getByRole("heading", { name: "Sandbox General Hospital" })).toBeVisible();
});

test("an attempt can be copied as a curl command, and a delivery can be replayed", async ({ page, run, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page, run, at(`deliveries/${id(401)}`), world());
  await page.getByRole("button", { name: "Copy as curl" }).click();
  await expect(page.getByText(/^Copied/)).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(
    /^curl 'https:\/\/app\.example\/webhooks\/records' \\\n {2}--header 'Content-Type: application\/json'/,
  );
  await page.getByRole("button", { name: "Replay" }).click();
  await expect(page.getByText("Attempt 1, manual")).toBeVisible();
});

test("a notice address is verified by an emailed code", async ({ page, run }) => {
  await open(page, run, at("branding"), world());
  const addresses = page.getByRole("table", { name: "Notice addresses" });
  await expect(addresses.getByText("unverified")).toHaveCount(1);
  await page.getByRole("button", { name: "Send code to new@alder.example" }).click();
  const code = page.getByLabel("Code sent to new@alder.example");
  await code.fill("000000");
  await page.getByRole("button", { name: "Verify" }).click();
  await expect(page.getByText("The code is wrong.")).toBeVisible();
  await code.fill("123 456");
  await page.getByRole("button", { name: "Verify" }).click();
  await expect(page.getByText("Email address verified.")).toBeVisible();
  await expect(addresses.getByText("unverified")).toHaveCount(0);
  await expect(page.getByRole("button", { name: /Send code/ })).toHaveCount(0);
});

test("typing an accent colour updates the preview and shows contrast warnings", async ({ page, run }) => {
  await open(page, run, at("branding"), world());
  await page.getByLabel("Accent", { exact: true }).fill("#0f5e78");
  await expect(page.getByText("The accent colour’s contrast ratio on white is")).toHaveCount(0);
  const button = page.locator(".preview.light .preview-button");
  await expect(button).toHaveCSS("background-color", "rgb(15, 94, 120)");
  await page.getByLabel("Accent", { exact: true }).fill("#ffee00");
  await expect(page.getByText("The accent colour’s contrast ratio on white is")).toBeVisible();
  await expect(button).toHaveCSS("color", "rgb(0, 0, 0)");
});

test("the branding preview shows the purpose and each possible colour scheme, and Save submits them", async ({
  page,
  run,
}) => {
  const fake = await open(page, run, at("branding"), world());
  const [light, dark] = [page.locator(".preview.light"), page.locator(".preview.dark")];
  await expect(light.locator(".preview-button")).toHaveCSS("border-radius", "12px");
  await page.getByLabel("Corner radius").fill("0");
  await page.getByLabel("Font", { exact: true }).fill("Georgia, serif");
  await page.getByLabel("Purpose in English").fill("<b>We plan\nyour care.");
  await page.getByLabel("Purpose in Spanish").fill("Planificamos su atención. ");
  for (const ground of [light, dark]) {
    await expect(ground).toHaveCSS("font-family", /^Georgia, serif, /);
    await expect(ground.getByText("Alder Health says: “<b>We plan your care.”")).toBeVisible();
    await expect(ground.getByText("Alder Health indica: «Planificamos su atención.»")).toBeVisible();
    for (const part of ["button", "field"])
      await expect(ground.locator(`.preview-${part}`)).toHaveCSS("border-radius", "0px");
    await expect(ground.getByText("Sandbox Hospital")).toBeVisible();
  }
  await page.getByLabel("Font", { exact: true }).fill("serif; } url(");
  await expect(light).not.toHaveCSS("font-family", /Georgia|url/);
  await page.getByLabel("Font", { exact: true }).fill("Georgia, serif");
  await page.getByLabel("Colour scheme").selectOption("Always dark");
  await expect(light).toHaveCount(0);
  await expect(dark).toBeVisible();
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Saved.")).toBeVisible();
  expect(fake.world.organisation).toMatchObject({
    radius: 0,
    font: "Georgia, serif",
    color_scheme: "dark",
    purpose: "<b>We plan your care.",
    purpose_es: "Planificamos su atención. ",
  });
  expect(await page.evaluate(() => window.broken)).toEqual([]);
});

test("a pending delivery can be retried at once", async ({ page, run }) => {
  const fake = await open(page, run, at(`deliveries/${id(402)}`), world());
  await page.getByRole("button", { name: "Retry now" }).click();
  await expect(page.getByText("Sending the event again.")).toBeVisible();
  expect(fake.asked.filter((one) => one.startsWith("POST"))).toHaveLength(1);
});

test("a bulk replay shows its size before it starts", async ({ page, run }) => {
  await open(page, run, at(`webhooks/${id(201)}`), world());
  await page.getByRole("button", { name: "Replay failed" }).click();
  const dialog = page.getByRole("dialog", { name: "Replay failed" });
  await expect(dialog.getByText("2 deliveries will be sent again.")).toBeVisible();
  await dialog.getByLabel("Period").selectOption("1");
  await expect(dialog.getByText("No deliveries failed in this period.")).toBeVisible();
  await dialog.getByLabel("Period").selectOption("72");
  await expect(dialog.getByText("2 deliveries will be sent again.")).toBeVisible();
  await dialog.getByRole("button", { name: "Replay" }).click();
  await expect(page.getByText("Replaying 2 deliveries.")).toBeVisible();
});

test("each section of a webhook's page has a URL, and disabling requires the typed host", async ({ page, run }) => {
  await open(page, run, at(`webhooks/${id(201)}`), world());
  const sections = page.getByRole("navigation", { name: "Webhook" });
  await sections.getByRole("link", { name: "Settings" }).click();
  await expect(page.getByLabel("Attempts per second")).toBeVisible();
  expect(page.url()).toContain("?section=settings");
  await page.reload();
  await sections.getByRole("link", { name: "Disable or remove" }).click();
  await page.getByRole("button", { name: "Disable" }).click();
  const dialog = page.getByRole("dialog", { name: "Disable webhook" });
  await dialog.getByRole("button", { name: "Disable" }).click();
  await dialog.getByLabel("Type app.example to continue").fill("app.example");
  await dialog.getByRole("button", { name: "Disable" }).click();
  await expect(page.getByText("This webhook was disabled")).toBeVisible();
  await expect(page.getByRole("button", { name: "Remove" })).toBeVisible();
});
