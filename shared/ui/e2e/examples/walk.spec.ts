/** A patient connects a hospital in each example application, reads the record and deletes it. */
import { Patient } from "../support/patient.ts";
import { expect, test } from "../support/test.ts";
import { Application } from "./application.ts";

for (const language of ["typescript", "python", "go"]) {
  test(`the example in ${language}: a patient connects, reads the record and deletes it`, async ({ page, run }) => {
    const violations: string[] = [];
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) violations.push(message.text());
    });
    const application = await Application.start(language);
    try {
      await page.goto(application.url);
      const patient = new Patient(page);
      await patient.open();
      await patient.proveEmail(run);
      await patient.connect();
      await patient.finish();

      await page.getByRole("link", { name: "Show record" }).click({ timeout: 120_000 });
      await expect(page.locator("record-view")).toContainText("Maple");

      const record = application.url + (await page.locator("record-view").getAttribute("src"));
      expect((await page.request.get(record)).status()).toBe(200);
      expect((await fetch(record)).ok, "another visitor gets the record").toBe(false);
      const forged = await fetch(`${application.url}/webhook`, { method: "POST", body: "{}" });
      expect(forged.status, "the status of an unsigned webhook").toBe(400);

      await page.getByRole("button", { name: "Delete my record" }).click();
      await expect(page.getByRole("button", { name: "Delete my record" })).toHaveCount(0);
      expect((await page.request.get(record)).ok(), "the deleted record is served").toBe(false);
    } finally {
      await application.stop();
    }
    expect(violations).toEqual([]);
    expect(application.printed, "logs contain no health data").not.toContain("Maple");
  });
}
