/** svc-widget-element: opening, messages to the frame and the page, and closing. */
import { CONNECTED, expect, heard, init, played, PUBLIC_ID, say, test, told } from "./stage.ts";

const COMPLETE = { api_mode: "test", event_type: "widget.complete", data: [] };
const CLOSE = { api_mode: "test", event_type: "widget.close", data: {} };
const button = { name: "Share Records" };

test("the frame's URL contains only the public ID and the language", async ({ visit, service }) => {
  const page = await visit(
    `<svc-widget-element public-id="${PUBLIC_ID}" email="ada@example.org" external-id="visit-9" external-state="s" search-only="false" show-splash
      event-types="search.query, other" search-query="alder" tefca-mode="true" request-id=""></svc-widget-element>`,
    { lang: "es" },
  );
  await page.getByRole("button", { name: "Compartir registros" }).click();
  const frame = await played(page);
  expect(service.asked).toEqual([`/v1/widget/embed?public_id=${PUBLIC_ID}&lang=es`]);
  expect(await init(frame)).toEqual({
    svc: "init",
    v: 1,
    config: {
      publicId: PUBLIC_ID,
      email: "ada@example.org",
      externalId: "visit-9",
      externalState: "s",
      searchQuery: "alder",
      searchOnly: false,
      showSplash: true,
      tefcaMode: true,
      eventTypes: ["search.query", "other"],
      lang: "es",
    },
  });
});

test("focus moves to the frame when it is ready and returns to the button on close", async ({ visit }) => {
  const page = await visit(`<svc-widget-element public-id="${PUBLIC_ID}">
  </svc-widget-element>`);
  await page.getByRole("button", button).focus();
  await page.keyboard.press("Enter");
  const frame = await played(page);
  await expect(page.getByRole("dialog", button).getByRole("button", { name: "Close" })).toBeFocused();
  await say(frame, { type: "ready" });
  await expect(page.locator("iframe")).toBeFocused();
  await say(frame, { type: "closed" });
  await expect(page.getByRole("dialog")).toBeHidden();
  await expect(page.getByRole("button", button)).toBeFocused();
  await expect(page.locator("iframe")).toHaveCount(0);
});

for (const [way, wish] of [
  ["the close button", "button"],
  ["Esc", "key"],
  ["a click outside", "outside"],
] as const) {
  test(`${way} closes the modal through the frame`, async ({ visit }) => {
    const page = await visit(`<svc-widget-element public-id="${PUBLIC_ID}"></svc-widget-element>`);
    await page.getByRole("button", button).click();
    const frame = await played(page);
    const edge = await page.getByRole("button", { name: "Close" }).boundingBox();
    if (wish === "button") await page.mouse.click((edge?.x ?? 0) + 0.5, (edge?.y ?? 0) + 20); // on the button's border
    if (wish === "key") await page.keyboard.press("Escape");
    if (wish === "outside") await page.mouse.click(5, 5);
    await expect.poll(() => heard(frame)).toEqual([{ type: "close" }]);
    await expect(page.getByRole("dialog")).toBeVisible();
    await say(frame, { type: "event", payload: { api_mode: "live", event_type: "widget.complete", data: [] } });
    await say(frame, { type: "closed" });
    await expect(page.getByRole("dialog")).toBeHidden();
    expect(await told(page)).toEqual([COMPLETE, CLOSE].map((one) => ({ ...one, api_mode: "live" })));
  });
}

test("static-backdrop ignores clicks outside, and dragging out of the modal never closes it", async ({ visit }) => {
  const page = await visit(`<svc-widget-element public-id="${PUBLIC_ID}"></svc-widget-element>`);
  await page.getByRole("button", button).click();
  const frame = await played(page);
  const box = await page.getByRole("dialog").boundingBox();
  await page.mouse.click((box?.x ?? 0) + 60, (box?.y ?? 0) + 20); // beside the close button
  await page.mouse.move((box?.x ?? 0) + 60, (box?.y ?? 0) + 20);
  await page.mouse.down();
  await page.mouse.move(5, 5);
  await page.mouse.up();
  await page.locator("svc-widget-element").evaluate((element) => element.setAttribute("static-backdrop", ""));
  await page.mouse.click(5, 5);
  expect(await heard(frame)).toEqual([]);
  await page.locator("svc-widget-element").evaluate((element) => element.setAttribute("static-backdrop", "false"));
  await page.mouse.click(5, 5);
  await expect.poll(() => heard(frame)).toEqual([{ type: "close" }]);
});

test("a dialog closed by the browser or the page completes the visit", async ({ visit }) => {
  const page = await visit(`<svc-widget-element public-id="${PUBLIC_ID}"></svc-widget-element>`);
  await page.getByRole("button", button).click();
  await played(page);
  await page.getByRole("dialog").evaluate((dialog: HTMLDialogElement) => dialog.close());
  await expect.poll(() => told(page)).toEqual([COMPLETE, CLOSE]);
  await expect(page.locator("iframe")).toHaveCount(0);
  expect(await page.evaluate(() => document.adoptedStyleSheets.length)).toBe(0);
});

test("focus returns to the button even if the click did not focus it", async ({ visit }) => {
  const page = await visit(`<svc-widget-element public-id="${PUBLIC_ID}"></svc-widget-element>`);
  await page.getByRole("button", button).evaluate((own: HTMLElement) => own.click());
  await say(await played(page), { type: "closed" });
  await expect(page.getByRole("button", button)).toBeFocused();
});

test("show() restores focus to the previously focused element", async ({ visit }) => {
  const page = await visit(
    `<svc-widget-element public-id="${PUBLIC_ID}"></svc-widget-element><input aria-label="theirs">`,
  );
  await page.getByLabel("theirs").focus();
  await page.locator("svc-widget-element").evaluate((element: HTMLElement & { show(): void }) => element.show());
  await say(await played(page), { type: "closed" });
  await expect(page.getByLabel("theirs")).toBeFocused();
});

test("a crashed frame does not block closing", async ({ visit }) => {
  const page = await visit(`<svc-widget-element public-id="${PUBLIC_ID}"></svc-widget-element>`);
  await page.getByRole("button", button).click();
  await played(page);
  const cross = page.getByRole("button", { name: "Close" });
  await cross.click();
  await cross.click();
  await expect(page.getByRole("dialog")).toBeVisible();
  await cross.click();
  await expect(page.getByRole("dialog")).toBeHidden();
  expect(await told(page)).toEqual([COMPLETE, CLOSE]);
});

test("hide() closes immediately and reports each connection once", async ({ visit }) => {
  const page = await visit(`<svc-widget-element public-id="${PUBLIC_ID}"></svc-widget-element>`);
  const element = page.locator("svc-widget-element");
  await element.evaluate((widget: HTMLElement & { show(): void }) => (widget.show(), widget.show()));
  const frame = await played(page);
  await say(frame, { type: "event", payload: CONNECTED });
  await say(frame, { type: "event", payload: CONNECTED });
  await expect.poll(() => told(page)).toHaveLength(2);
  await element.evaluate((widget: HTMLElement & { hide(): void }) => (widget.hide(), widget.hide()));
  expect(await told(page)).toEqual([
    CONNECTED,
    CONNECTED,
    { ...COMPLETE, data: "data" in CONNECTED ? [CONNECTED.data] : [] },
    CLOSE,
  ]);
  await element.evaluate(
    (widget: HTMLElement & { hide(): void; show(): void }) => (widget.show(), widget.hide(), widget.show()),
  );
  await played(page);
  await expect(page.getByRole("dialog")).toBeVisible();
});

test("event detail is a plain object with parseable data", async ({ visit }) => {
  const page = await visit(`<svc-widget-element public-id="${PUBLIC_ID}"></svc-widget-element>
    <script>
      window.parsed = [];
      document.querySelector("svc-widget-element").addEventListener("eventBus", ({ detail }) => parsed.push([JSON.parse(detail.data), JSON.stringify(detail), Object.keys(detail.data)]));
    </script>`);
  await page.getByRole("button", button).click();
  const frame = await played(page);
  await say(frame, { type: "event", payload: CONNECTED });
  await say(frame, { type: "closed" });
  await expect(page.getByRole("dialog")).toBeHidden();
  const parsed = await page.evaluate(() => (self as unknown as { parsed: unknown[][] }).parsed);
  const all = await told(page);
  expect(parsed).toEqual(
    all.map((payload) => [payload, JSON.stringify(payload), Object.keys("data" in payload ? payload.data : {})]),
  );
  expect(all.map((payload) => payload.event_type)).toEqual([
    "patient.connection_success",
    "widget.complete",
    "widget.close",
  ]);
});

for (const [attributes, reason] of [
  ["", "public-id is missing"],
  [`public-id="${PUBLIC_ID}" base-url="somewhere"`, "base-url is not a URL"],
] as const) {
  test(`a configuration error is shown and emitted: ${reason}`, async ({ visit, page }) => {
    const warnings: string[] = [];
    page.on("console", (message) => message.type() === "warning" && warnings.push(message.text()));
    await visit(`<svc-widget-element ${attributes}></svc-widget-element>`);
    await page.getByRole("button", button).click();
    await expect(page.getByRole("alert")).toContainText(reason);
    expect(await told(page)).toEqual([{ api_mode: "test", event_type: "widget.config_error" }]);
    expect(warnings).toEqual([`svc-widget-element: misconfigured: ${reason}`]);
    await page.keyboard.press("Escape");
    await expect(page.getByRole("dialog")).toBeHidden();
    expect((await told(page)).slice(-2)).toEqual([COMPLETE, CLOSE]);
  });
}

test("the frame logs configuration errors to the console only in test mode", async ({ visit, page }) => {
  const warnings: string[] = [];
  page.on("console", (message) => message.type() === "warning" && warnings.push(message.text()));
  await visit(`<svc-widget-element public-id="${PUBLIC_ID}"></svc-widget-element>`);
  await page.getByRole("button", button).click();
  const frame = await played(page);
  await say(frame, {
    type: "event",
    payload: { api_mode: "test", event_type: "widget.config_error" },
    reason: "unknown public id",
  });
  await say(frame, {
    type: "event",
    payload: { api_mode: "live", event_type: "widget.config_error" },
    reason: "unknown public id",
  });
  await expect.poll(() => told(page)).toHaveLength(2);
  expect(warnings).toEqual(["svc-widget-element: misconfigured: unknown public id"]);
});
