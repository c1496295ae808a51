/** Checks that the test browser behaves like a patient's browser. No restriction may be disabled, because that could hide a failure. */
import { expect, test } from "./test.ts";

test.use({ trace: "off" }); // a trace calls into the page, which counts as a click

test("the test browser partitions storage by site", async ({ page, host }) => {
  const inner = host.publish({ site: "inner", body: "<p>inner</p>" });
  const outer = host.publish({ site: "outer", body: `<iframe src="${inner}"></iframe>` });
  await page.goto(inner);
  await page.evaluate(() => localStorage.setItem("seen", "first party"));
  await page.goto(outer);
  const frame = page.frames().find((one) => one.url() === inner);
  expect(await frame?.evaluate(() => localStorage.getItem("seen"))).toBeNull();
});

test("the test browser blocks popups without a click", async ({ page, context, host }) => {
  await page.goto(
    host.publish({
      site: "pushy",
      body: `<script>setTimeout(() => { document.title = open("about:blank") === null ? "blocked" : "open"; }, 200)</script>`,
    }),
  );
  await new Promise((resolve) => setTimeout(resolve, 1_000)); // a call into the page would also count as a click
  await expect(page).toHaveTitle("blocked");
  expect(context.pages()).toHaveLength(1);
});

test("the test browser severs a popup with COOP from its opener", async ({ page, context, host }) => {
  const portal = host.publish({
    site: "portal",
    body: "<p>portal</p>",
    headers: { "cross-origin-opener-policy": "same-origin" },
  });
  const opener = host.publish({
    site: "opener",
    body: `<button onclick="window.other = open('${portal}', 'portal', 'popup')">Open</button>`,
  });
  await page.goto(opener);
  const opening = context.waitForEvent("page");
  await page.getByRole("button").click();
  const popup = await opening;
  await expect(popup.getByText("portal")).toBeVisible();
  expect(await popup.evaluate(() => window.opener)).toBeNull();
  await expect.poll(() => page.evaluate(() => (window as { other?: Window }).other?.closed)).toBe(true);
});
