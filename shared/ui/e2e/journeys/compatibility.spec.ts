/**
 * A third-party component that uses the same widget contract (docs/reference/compatibility.md). The component has its
 * own dialog, an iframe with a query, and JSON messages.
 */
import type { Page } from "@playwright/test";
import { Patient } from "../support/patient.ts";
import { customer, type Run } from "../support/run.ts";
import { expect, test } from "../support/test.ts";
import type { Host } from "../support/host.ts";

/** A customer's page with a third-party component. */
async function open(page: Page, run: Run, host: Host, query: Record<string, string>, site = "clinic"): Promise<void> {
  const address = `${run.base_url}/widget/embed?${new URLSearchParams({ "search-only": "true", ...query })}`;
  await page.goto(
    host.publish({
      site,
      path: "/component",
      body: `<dialog><iframe title="Records" width="440" height="700"></iframe></dialog><script>
      window.bus = [];
      const dialog = document.querySelector("dialog"), iframe = document.querySelector("iframe");
      addEventListener("message", (event) => {
        if (event.source !== iframe.contentWindow) return;
        let payload;
        try { payload = JSON.parse(event.data); } catch { return; }
        if (payload.event_type === "widget.close") { dialog.close(); iframe.src = "about:blank"; } else bus.push(payload);
      });
      iframe.src = ${JSON.stringify(address)};
      dialog.showModal();
    </script>`,
    }),
  );
}

const bus = (page: Page): Promise<{ event_type: string; data?: unknown; api_mode: string }[]> =>
  page.evaluate(() => (self as unknown as { bus: never[] }).bus);

test("a direct frame with public-id connects a patient and closes on widget.close", async ({ page, run, host }) => {
  await open(page, run, host, { "public-id": customer(run).public_id, "external-id": "patient-7" });
  const patient = new Patient(page, page.frameLocator("iframe"));
  await patient.pick();
  const portal = await patient.leave();
  await portal.signInAndAllow();
  await patient.sees("success_title");
  await expect
    .poll(async () => (await bus(page)).map((one) => one.event_type))
    .toEqual(["patient.connection_pending", "patient.connection_success"]);
  await page.frameLocator("iframe").getByRole("button", { name: "Close" }).click();
  await expect(page.getByRole("dialog")).toBeHidden();
  const events = await bus(page);
  expect(events.at(-1)).toMatchObject({
    api_mode: "test",
    event_type: "widget.complete",
    data: [{ external_id: "patient-7", connection_status: "authorized" }],
  });
});

test("a direct frame with an unknown public-id shows the reason and emits widget.config_error", async ({
  page,
  run,
  host,
}) => {
  await open(page, run, host, { "public-id": "public_test_00000000-0000-4000-8000-000000000000" });
  await expect(page.frameLocator("iframe").getByRole("heading", { level: 1 })).toBeVisible();
  await expect.poll(() => bus(page)).toMatchObject([{ event_type: "widget.config_error" }]);
});

test("the embed page with public-id refuses to run outside a frame", async ({ page, run }) => {
  await page.goto(`${run.base_url}/widget/embed?public-id=${customer(run).public_id}&external-id=of-a-stranger`);
  await expect(page.getByText("This page works only in a frame.")).toBeVisible();
});
