/** A patient connects a hospital in each example application, reads the record and deletes it. */
import { Patient } from "../support/patient.ts";
import { expect, test } from "../support/test.ts";
import { Application } from "./application.ts";

for (const language of ["typescript", "python", "go"]) {
  test(`the example in ${language}: a patient connects, reads the record and deletes it`, async ({ page, run }) => {
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

      await page.getByRole("button", { name: "Delete my record" }).click();
      await expect(page.getByRole("button", { name: "Delete my record" })).toHaveCount(0);
    } finally {
      await application.stop();
    }
    expect(application.printed).not.toContain("Maple");
  });
}
