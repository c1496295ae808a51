/** Lifecycle of elements in pages and frameworks. */
import { type Page } from "@playwright/test";
import { findings } from "../support/axe.ts";
import { CONNECTED, expect, init, played, PUBLIC_ID, say, test, told } from "./stage.ts";

const element = `<svc-widget-element public-id="${PUBLIC_ID}"></svc-widget-element>`;
const show = (page: Page, nth = 0): Promise<void> =>
  page
    .locator("svc-widget-element")
    .nth(nth)
    .evaluate((widget: HTMLElement & { show(): void }) => widget.show());

test("elements on one page are independent", async ({ visit, page }) => {
  await visit(
    `${element}<svc-widget-element public-id="${PUBLIC_ID}" external-id="second">Second</svc-widget-element>`,
  );
  await show(page);
  await show(page, 1);
  const first = await played(page);
  const second = await played(page, 1);
  expect([(await init(first)).config.externalId, (await init(second)).config.externalId]).toEqual([
    undefined,
    "second",
  ]);
  await say(second, { type: "closed" });
  await expect(page.getByRole("dialog")).toHaveCount(1);
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).overflow)).toBe("hidden");
  await say(first, { type: "closed" });
  await expect(page.getByRole("dialog")).toHaveCount(0);
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).overflow)).toBe("visible");
  expect(await told(page)).toHaveLength(4);
});

test("the script can be loaded twice and from two URLs", async ({ visit, page, service }) => {
  const errors: Error[] = [];
  page.on("pageerror", (error) => errors.push(error));
  const again = `<script type="module" src="${service.script}?again"></script><script type="module" src="${service.base}/sdk/4.0.0/svc-widget.js"></script>`;
  await visit(element + again);
  await page.getByRole("button", { name: "Share Records" }).click();
  await played(page);
  expect(page.frames()).toHaveLength(2);
  expect(errors).toEqual([]);
});

test("an element removed during a visit completes it, cleans up and can be inserted again", async ({ visit, page }) => {
  await visit(element);
  await page.getByRole("button", { name: "Share Records" }).click();
  const frame = await played(page);
  await say(frame, { type: "event", payload: CONNECTED });
  await expect.poll(() => told(page)).toHaveLength(1);
  const ends = await page.locator("svc-widget-element").evaluate((widget) => {
    const heard: unknown[] = [];
    widget.addEventListener("eventBus", (event) =>
      heard.push((event as CustomEvent<{ event_type: string }>).detail.event_type),
    );
    widget.remove();
    const overflow = getComputedStyle(document.documentElement).overflow;
    document.body.append(widget);
    return { heard, overflow };
  });
  expect(ends).toEqual({ heard: ["widget.complete", "widget.close"], overflow: "visible" });
  await expect.poll(() => page.frames()).toHaveLength(1);
  await page.getByRole("button", { name: "Share Records" }).click();
  await played(page);
  await expect(page.getByRole("dialog")).toBeVisible();
});

test("properties set before the script loads are adopted", async ({ page, host, service }) => {
  await page.goto(
    host.publish({
      body: `<script>
        const early = document.createElement("svc-widget-element");
        Object.assign(early, { publicId: "${PUBLIC_ID}", searchOnly: true, showSplash: false, email: undefined, own: "mine" });
        document.body.append(early);
      </script><script type="module" src="${service.script}"></script>`,
    }),
  );
  await page.getByRole("button", { name: "Share Records" }).click();
  expect((await init(await played(page))).config).toEqual({
    publicId: PUBLIC_ID,
    searchOnly: true,
    showSplash: false,
    tefcaMode: false,
    eventTypes: [],
    lang: "en",
  });
  expect(
    await page.locator("svc-widget-element").evaluate((widget) => (widget as unknown as { own: string }).own),
  ).toBe("mine");
});

test("properties reflect attributes", async ({ visit, page }) => {
  await visit(element);
  const seen = await page.locator("svc-widget-element").evaluate((widget) => {
    const properties = widget as unknown as Record<string, unknown>;
    properties["externalId"] = 7;
    properties["searchOnly"] = true;
    properties["tefcaMode"] = "false";
    properties["publicId"] = null;
    return [
      widget.getAttributeNames(),
      properties["externalId"],
      properties["searchOnly"],
      properties["tefcaMode"],
      properties["publicId"],
      properties["email"],
    ];
  });
  expect(seen).toEqual([["external-id", "search-only", "tefca-mode"], "7", true, false, "", ""]);
});

for (const [what, own] of [
  ["button", `<button class="mine">Mine</button>`],
  ["link", `<span><a href="#elsewhere">Mine</a></span>`],
] as const) {
  test(`a slotted ${what} replaces the default button`, async ({ visit, page }) => {
    await visit(`<svc-widget-element public-id="${PUBLIC_ID}">${own}</svc-widget-element>`);
    const mine = page.getByRole(what, { name: "Mine" });
    await expect(page.getByRole("button")).toHaveCount(what === "button" ? 1 : 0);
    await mine.focus();
    await page.keyboard.press("Enter");
    const frame = await played(page);
    expect(new URL(page.url()).hash).toBe("");
    await say(frame, { type: "closed" });
    await expect(mine).toBeFocused();
    await expect.poll(() => page.frames()).toHaveLength(1);
    expect((await findings(page)).filter((one) => one.startsWith("nested-interactive"))).toEqual([]);
  });
}

test("the button's label is the slotted text, or the default if the slot is empty", async ({ visit, page }) => {
  await visit(`<svc-widget-element>  Connect <b>now</b></svc-widget-element><svc-widget-element lang="es">
  </svc-widget-element>`);
  await expect(page.getByRole("button").nth(0)).toHaveAccessibleName("Connect now");
  await expect(page.getByRole("button").nth(1)).toHaveAccessibleName("Compartir registros");
  await page
    .locator("svc-widget-element")
    .nth(1)
    .evaluate((widget) => widget.setAttribute("lang", "en"));
  await expect(page.getByRole("button").nth(1)).toHaveAccessibleName("Share Records");
});

test("a preloaded frame receives nothing before the click and uses current attributes", async ({
  visit,
  page,
  service,
}) => {
  await visit(
    `<svc-widget-element public-id="${PUBLIC_ID}" preload="hover" external-id="before"></svc-widget-element>`,
  );
  const button = page.getByRole("button", { name: "Share Records" });
  await button.hover();
  await expect.poll(() => service.asked).toHaveLength(1);
  await page.locator("svc-widget-element").evaluate((widget) => widget.setAttribute("external-id", "after"));
  await expect.poll(() => page.frames()).toHaveLength(1);
  await button.focus();
  await expect.poll(() => service.asked).toHaveLength(2);
  const ahead = page.frames()[1];
  await ahead?.waitForLoadState();
  expect(await ahead?.evaluate(() => "init" in self)).toBe(false);
  await button.click();
  expect((await init(await played(page))).config.externalId).toBe("after");
  expect(service.asked).toHaveLength(2);
});

test("the element sends no request before a click", async ({ visit, page, service }) => {
  await visit(element);
  await page.getByRole("button", { name: "Share Records" }).hover();
  await page.waitForTimeout(200); // a missing message has no signal to wait for
  expect(service.asked).toEqual([]);
});

test("axe finds no violations in the closed, open and failed states", async ({ visit, page }) => {
  const page_ = `<main><h1>Alder</h1>${element}<svc-widget-element></svc-widget-element><svc-widget public-id="x"></svc-widget></main>`;
  await visit(page_);
  const violations = async (): Promise<string[]> => findings(page);
  expect(await violations()).toEqual([]);
  await show(page, 1);
  await expect(page.getByRole("alert")).toBeVisible();
  expect(await violations()).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await violations()).toEqual([]);
});
