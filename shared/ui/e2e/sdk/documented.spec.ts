/** The guide's pages (docs/guide/widget.md), exactly as written except for their URLs and public ID. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { violations } from "../support/customer.ts";
import { mailedCode, newEmail, Patient } from "../support/patient.ts";
import { customer, repository, type Run } from "../support/run.ts";
import { expect, test } from "../support/test.ts";

const guide = readFileSync(join(repository, "docs/guide/widget.md"), "utf8");

/** Returns the guide's block that begins with a text. */
function block(start: string): string {
  const found = [...guide.matchAll(/^```\w*\n([^]*?)^```$/gm)]
    .map(([, text]) => text ?? "")
    .find((text) => text.startsWith(start));
  if (found === undefined) throw new Error(`the guide has no block that begins with ${start}`);
  return found;
}

const adapt = (text: string, run: Run): string =>
  text
    .replaceAll("https://api.example.com/v1", run.base_url)
    .replaceAll("https://api.example.com", new URL(run.base_url).origin)
    .replace(/public_test_[0-9a-f-]{36}/, customer(run).public_id);

/** The guide's steps. */
async function connect(page: Page, run: Run): Promise<void> {
  const patient = new Patient(page);
  await page.getByRole("button", { name: "Share Records" }).click();
  const email = newEmail();
  await patient.field("email").fill(email);
  await patient.button("email_send").click();
  await patient.field("code").fill(await mailedCode(run, email));
  await patient.press(() => patient.heading("search_title").isVisible(), "continue");
  await patient.connect();
  await patient.finish();
  await expect(page.getByRole("heading", { name: "Connected: 1" })).toBeVisible();
}

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });

  test("the quick start connects a patient", async ({ page, run, host }) => {
    await page.goto(host.publish({ html: adapt(block("<!doctype html>"), run) }));
    expect(await page.evaluate(() => document.documentElement.clientWidth)).toBe(390);
    await connect(page, run);
  });
});

test("the quick start works under the strictest CSP", async ({ page, run, host }) => {
  const html = adapt(block("<!doctype html>"), run);
  const inline = /<script type="module">([^]*?)<\/script>/;
  const script = inline.exec(html)?.[1] ?? "";
  await page.route("**/app.js", (route) => route.fulfill({ contentType: "text/javascript", body: script }));
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) =>
      window.violations.push(`${event.violatedDirective} ${event.blockedURI}`),
    );
  });
  const [name = "", policy = ""] = adapt(block("Content-Security-Policy:"), run).split(/:\s([^]*)/);
  const headers = { [name]: policy.trim().replaceAll(/\s+/g, " ") };
  await page.goto(
    host.publish({ html: html.replace(inline, '<script type="module" src="/app.js"></script>'), headers }),
  );
  await connect(page, run);
  expect((await violations(page)).filter((one) => !one.endsWith("/favicon.ico"))).toEqual([]);
});
