/** Tests that failures at the hospital or in the configuration are shown to the patient and emitted as events. */
import type { Page } from "@playwright/test";
import type { Payload } from "../../kit/protocol.ts";
import { heard, heardTypes, visit } from "../support/customer.ts";
import { Patient } from "../support/patient.ts";
import { INSTITUTIONS, SANDBOX } from "../support/run.ts";
import { expect, test } from "../support/test.ts";

const attributes = { "search-only": "" };

async function failure(page: Page): Promise<Extract<Payload, { event_type: "patient.connection_failed" }>["data"]> {
  const told = (await heard(page)).find((one) => one.event_type === "patient.connection_failed");
  if (told?.event_type !== "patient.connection_failed") throw new Error("no failure was told");
  return told.data;
}

test("a portal's error is shown and emitted", async ({ page, run, host }) => {
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.pick(INSTITUTIONS.refusing.name);
  await patient.leave();
  await expect(patient.button("try_again")).toBeVisible();

  const told = await failure(page);
  expect(Object.keys(told)).toEqual(
    expect.arrayContaining(["endpoint_id", "portal_id", "brand_id", "request_id", "error", "error_description"]),
  );
  expect(told.error_description).toMatch(/^[ -~]+$/);
  await patient.where.getByText(patient.lang.say("details")).click();
  await expect(patient.where.getByText(told.request_id)).toBeVisible();
  expect(await heardTypes(page)).toEqual(["patient.connection_pending", "patient.connection_failed"]);
});

test("a patient who denies access sees that nothing was shared and can retry", async ({ page, run, host }) => {
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.pick();
  const portal = await patient.leave();
  await portal.signIn();
  await portal.deny();
  await patient.sees("declined_title");
  expect((await failure(page)).error).toBe("access_denied");
  await patient.button("try_again").click();
  const again = await patient.leave();
  await again.signInAndAllow();
  await patient.sees("success_title");
});

test("after a failure the patient can choose another institution or get help", async ({ page, run, host }) => {
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.pick(INSTITUTIONS.refusing.name);
  await patient.leave();
  await patient.where
    .getByRole("button", { name: patient.lang.say("help") })
    .first()
    .click();
  await patient.sees("support_title");
  await patient.button("back").click();
  await patient.button("other_hospital").click();
  await patient.connect(SANDBOX);
});

for (const [name, wrong, reason] of [
  ["an unknown public id", { "public-id": "public_test_00000000-0000-4000-8000-000000000000" }, true],
  ["no public id", { "public-id": null }, false],
] as const) {
  test(`widget.config_error is emitted: ${name}`, async ({ page, run, host }) => {
    const warnings: string[] = [];
    page.on("console", (message) => message.type() === "warning" && warnings.push(message.text()));
    await visit(page, run, host, { attributes: wrong });
    const patient = new Patient(page);
    await patient.open();
    await expect.poll(() => heard(page)).toEqual([{ api_mode: "test", event_type: "widget.config_error" }]);
    await expect.poll(() => warnings.join("\n")).toContain("svc-widget-element: misconfigured: ");
    if (reason) await patient.sees("config_title");
    else await expect(page.getByRole("dialog").getByRole("alert")).toContainText("public-id");
  });
}

test("a help request reaches the organisation's webhook", async ({ page, run, host }) => {
  await visit(page, run, host, { attributes: { ...attributes, email: "ada.maple@mail.example" } });
  const patient = new Patient(page);
  await patient.open();
  await patient.button("help").click();
  await expect(patient.field("email")).toHaveValue("ada.maple@mail.example");
  await patient.field("support_name").fill("Ada Maple");
  await patient.field("support_subject").fill("Where is my clinic?");
  await patient.field("support_body").fill("I cannot find it by its name.");
  await patient.button("send").click();
  await patient.sees("support_sent_title");
  await expect.poll(async () => (await fetch(run.inbox_url)).text()).toContain("I cannot find it by its name.");
});

test("a missing-institution request reaches the organisation's webhook", async ({ page, run, host }) => {
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.find("Zyzzyva Quixotry");
  await expect(patient.where.getByText("No results", { exact: false }).first()).toBeVisible();
  await patient.button("missing").click();
  await patient.sees("missing_title");
  await expect(patient.field("missing_name")).toHaveValue("Zyzzyva Quixotry");
  await patient.field("email").fill("ada.maple@mail.example");
  await patient.button("send").click();
  await patient.sees("missing_sent_title");
  await expect.poll(async () => (await fetch(run.inbox_url)).text()).toContain("Zyzzyva Quixotry");
});
