/** Tests the playground (shared/ui/demo) as a customer's page. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { look } from "../support/looks.ts";
import { Patient, Portal } from "../support/patient.ts";
import { customer, repository } from "../support/run.ts";
import type { Run } from "../support/run.ts";
import { expect, test } from "../support/test.ts";

const address = (run: Run): string => `${run.base_url}/demo?public_id=${customer(run).public_id}`;

test("the playground connects a patient and shows events and code", async ({ page, run }) => {
  await page.goto(address(run));
  await page.getByLabel("search-only").check();
  await page.getByLabel("external-id").fill('a "quoted" id');
  const code = page.getByRole("region", { name: "Code, HTML" });
  await expect(code).toContainText('external-id="a &quot;quoted&quot; id"');
  await expect(code).toContainText(customer(run).public_id);
  const patient = new Patient(page);
  await patient.open();
  await patient.connect();
  await patient.finish();
  const log = page.getByRole("list");
  for (const type of ["patient.connection_pending", "patient.connection_success", "widget.complete"])
    await expect(log.getByText(type, { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "React" }).click();
  await expect(page.getByRole("region", { name: "Code, React" })).toContainText("oneventBus={");
  await page.getByRole("button", { name: "Vue" }).click();
  await expect(page.getByRole("region", { name: "Code, Vue" })).toContainText('addEventListener("eventBus"');
});

test("the playground's HTML code works when copied", async ({ page, run, host }) => {
  await page.goto(address(run));
  await page.getByLabel("search-only").check();
  await page.getByLabel("label", { exact: true }).fill("Connect my hospital");
  const code = (await page.getByRole("region", { name: "Code, HTML" }).textContent()) ?? "";
  await page.goto(
    host.publish({ site: "copied", html: `<!doctype html><html lang="en"><title>Copied</title>${code}` }),
  );
  await page.getByRole("button", { name: "Connect my hospital" }).click();
  await new Patient(page).sees("search_title");
});

test("the playground has a control for every attribute", async ({ page, run }) => {
  const { modules } = JSON.parse(readFileSync(join(repository, "shared/ui/sdk/custom-elements.json"), "utf8"));
  await page.goto(address(run));
  for (const tag of ["svc-widget-element", "svc-widget"]) {
    await page.getByRole("button", { name: tag, exact: true }).click();
    const declarations = modules.flatMap(
      (one: { declarations: { tagName: string; attributes: { name: string }[] }[] }) => one.declarations,
    );
    const { attributes } = declarations.find((one: { tagName: string }) => one.tagName === tag);
    for (const { name } of attributes) await expect(page.getByLabel(name, { exact: true })).toBeVisible();
  }
});

test("the playground shows the older element's popup result", async ({ page, context, run }) => {
  await page.goto(`${address(run)}&element=svc-widget`);
  await page.getByLabel("connect-mode").selectOption("popup");
  const opening = context.waitForEvent("page");
  await page.locator("svc-widget").getByRole("button").click();
  const window = await opening;
  const patient = new Patient(window, window);
  await patient.arrive(run);
  await patient.pick();
  await patient.button("go").click();
  await new Portal(window).signInAndAllow();
  await expect(page.getByText("orgConnectionCallback", { exact: true })).toBeVisible();
});

test("the playground is accessible", async ({ page, run }) => {
  await page.goto(address(run));
  await expect(page.locator("svc-widget-element").getByRole("button")).toBeVisible();
  await look(page, "playground", "en");
});
