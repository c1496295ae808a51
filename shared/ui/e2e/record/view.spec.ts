/** Tests the page that `recordbridge view` writes, and <record-view> on a customer's page. */
import type { Locator, Page } from "@playwright/test";
import { findings } from "../support/axe.ts";
import { look } from "../support/looks.ts";
import { expect, test } from "../support/test.ts";
import { hostile, markup, sample, withPage } from "./sample.ts";

/** Records every request except the page's own, and page errors. */
function watch(page: Page, url: string): string[] {
  const found: string[] = [];
  page.on("request", (request) => {
    if (request.url() !== url) found.push(request.url());
  });
  page.on("pageerror", (error) => found.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") found.push(message.text());
  });
  return found;
}

const section = (page: Page, name: string): Locator =>
  page.locator("section").filter({ has: page.getByRole("heading", { name, level: 3 }) });

/** Opens the disclosure that contains the text, and returns it. */
async function open(within: Locator, text: string): Promise<Locator> {
  const summary = within.locator("summary").filter({ hasText: text }).first();
  await summary.click();
  return summary.locator("xpath=..");
}

/** Opens every disclosure, including those that other disclosures contain. An open disclosure has rendered its content. */
async function openAll(page: Page): Promise<void> {
  const all = page.locator("details");
  await expect(async () => {
    await all.evaluateAll((found) => found.forEach((one) => one.setAttribute("open", "")));
    expect(await page.locator("details[open] > .content").count()).toBe(await all.count());
  }).toPass({ intervals: [50] });
}

test("record: the page shows the whole record, sends no request and has no accessibility errors", async ({ page }) => {
  await withPage(sample, async (url, mode) => {
    expect(mode).toBe(0o600);
    const found = watch(page, url);
    await page.goto(url);
    await expect(page.getByRole("heading", { name: "Alder Fenn" })).toBeVisible();
    const header = page.locator("header");
    for (const text of [
      "Mar 1964",
      "Female",
      "Sandbox Hospital",
      "1989 – Oct 4, 2021",
      "2 resources of the file",
      "23, 24",
    ])
      await expect(header).toContainText(text);
    const counts = await page.getByRole("navigation", { name: "Sections" }).getByRole("button").allInnerTexts();
    expect(counts.map((one) => one.replaceAll(/\s+/g, " "))).toEqual([
      ...["Problems 2", "Medications 2", "Allergies 1", "Immunizations 1", "Test results 3", "Vital signs 2"],
      ...["Social history and surveys 1", "Procedures 1", "Reports 1", "Visits 1", "Documents 1", "Entered in error 1"],
      ...["Other records 4", "Timeline 22"],
    ]);
    await expect(section(page, "Medications")).toContainText("Metformin 500 mg tablet");
    await expect(section(page, "Allergies")).toContainText("High risk");
    await expect(section(page, "Social history")).toContainText("No value (The patient declined to answer)");
    await expect(section(page, "Problems")).not.toContainText("Asthma");
    await expect(section(page, "Entered in error").locator("summary")).toHaveText("AsthmaEntered in error2015");
    await look(page, "record", "en");
    await open(section(page, "Problems"), "Resolved");
    await expect(section(page, "Problems")).toContainText("Broken wrist");
    const note = await open(section(page, "Documents"), "Progress note");
    await expect(note.locator("pre")).toContainText("Next visit in six months.");
    const goal = await open(await open(section(page, "Other records"), "Goal (1)"), "Walk every day");
    await open(goal, "Show as FHIR JSON");
    await expect(goal.locator("pre")).toContainText('"lifecycleStatus": "active"');
    const year = await open(section(page, "Timeline"), "2021 (");
    await expect(year.locator("li")).toHaveCount(6);
    expect(found).toEqual([]);
  });
});

test("record: a chart has a text and a table with the same results", async ({ page }) => {
  await withPage(sample, async (url) => {
    await page.goto(url);
    const glucose = await open(section(page, "Test results"), "Glucose");
    await expect(glucose.getByRole("img")).toHaveAccessibleName(
      "Glucose: 3 values in mg/dL, from 92 on Mar 2019 to 141 on Apr 2, 2021, lowest 92, highest 141, " +
        "reference range 70–99",
    );
    const rows = glucose.getByRole("table", { name: "Results of Glucose" }).getByRole("row");
    expect((await rows.allInnerTexts()).map((row) => row.replaceAll(/\s+/g, " ").trim())).toEqual([
      "Date Value Reference range",
      "Apr 2, 2021, 09:00 (UTC-04:00) 141 mg/dL Critically high 70–99 mg/dL Details",
      "Mar 1, 2020, 08:15 (UTC-05:00) 118.12 mg/dL High 70–99 mg/dL Details",
      "Mar 2019 92 mg/dL 70–99 mg/dL Details",
    ]);
    await rows.nth(2).getByRole("button").click();
    await expect(glucose).toContainText("118.123456 mg/dL");
    const pressure = await open(section(page, "Vital signs"), "Blood pressure");
    await expect(pressure.getByRole("img")).toHaveAccessibleName(/^Systolic: 2 values.*\. Diastolic: 2 values/);
    expect(await findings(page)).toEqual([]);
  });
});

test("record: hostile text is shown as text, and the page's policy stops scripts and requests", async ({ page }) => {
  await withPage(hostile, async (url) => {
    const found = watch(page, url);
    await page.goto(url);
    await expect(page.getByRole("heading", { name: markup })).toBeVisible();
    await openAll(page);
    await expect(page.locator("pre").filter({ hasText: markup }).first()).toBeVisible();
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    const links = page.locator("record-view").getByRole("link");
    await expect(links).toHaveCount(2); // one in the section, one in the timeline
    for (const link of await links.all()) {
      await expect(link).toHaveAttribute("href", "https://hospital.example/note.pdf");
      await expect(link).toHaveAttribute("rel", /noopener/);
    }
    await expect(page.locator("record-view").locator("img, iframe, script[src]")).toHaveCount(0);
    await expect(page.locator("header")).toContainText("1 resource of the file");
    expect(found).toEqual([]);
    await page.evaluate(async () => {
      const script = document.createElement("script");
      script.textContent = "hacked = 1";
      document.body.append(script);
      await fetch("https://hospital.example/").catch(() => undefined);
    });
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    expect(found.join()).toMatch(/script-src.*connect-src/s);
  });
});

test("record: the element shows a file from the customer's server, and reports a failure", async ({
  page,
  run,
  host,
}) => {
  const src = host.publish({
    path: "/record.ndjson",
    html: sample,
    headers: { "content-type": "application/fhir+ndjson" },
  });
  const script = `<script type="module" src="${run.base_url}/record-view.js"></script>`;
  await page.goto(host.publish({ path: "/record", head: script, body: `<record-view src="${src}"></record-view>` }));
  await expect(page.getByRole("heading", { name: "Alder Fenn" })).toBeVisible();
  await page.locator("record-view").evaluate((element) => element.setAttribute("src", "/missing"));
  await expect(page.getByRole("alert")).toContainText("HTTP status 404");
  await page.locator("record-view").evaluate((element) => {
    (element as HTMLElement & { text: string }).text = '{"resourceType":"Patient","name":[{"text":"Birch Loam"}]}';
  });
  await expect(page.getByRole("heading", { name: "Birch Loam" })).toBeVisible();
  await page.locator("record-view").evaluate((element) => {
    (element as HTMLElement & { text: string }).text = "\n";
  });
  await expect(page.locator("record-view")).toContainText("This file has no FHIR resources.");
});
