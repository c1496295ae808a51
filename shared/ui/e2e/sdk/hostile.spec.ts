/** Hostile pages: restrictive, heavily styled, or sending forged messages. */
import { expect, heard, init, played, PUBLIC_ID, say, test, told, violations } from "./stage.ts";

const CLIPPED = "overflow:hidden;width:10px;height:10px;position:relative;transform:translateX(0);contain:strict";

test("the modal works under a CSP with only script-src and frame-src", async ({ visit, service, page }) => {
  const policy = `default-src 'none'; script-src 'unsafe-inline' ${service.origin()}; frame-src ${service.origin()}; require-trusted-types-for 'script'; trusted-types 'none'`;
  const problems: string[] = [];
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  await visit(`<svc-widget-element public-id="${PUBLIC_ID}"></svc-widget-element>`, {
    headers: { "content-security-policy": policy },
  });
  await page.getByRole("button", { name: "Share Records" }).click();
  const frame = await played(page);
  await say(frame, { type: "ready" });
  await expect(page.locator("iframe")).toBeFocused();
  expect((await page.getByRole("dialog").boundingBox())?.width).toBe(440);
  await say(frame, { type: "closed" });
  await expect(page.getByRole("dialog")).toBeHidden();
  // The icon of the stage's pages is irrelevant here.
  expect((await violations(page)).filter((violation) => !violation.startsWith("img-src"))).toEqual([]);
  expect(problems.filter((problem) => !problem.includes("img-src"))).toEqual([]);
});

test("parents with overflow clipping and aggressive page styles do not affect the modal", async ({ visit, page }) => {
  const shouting = `<style>* { visibility: hidden !important; pointer-events: none !important; color: transparent !important; font-size: 1px !important;
    line-height: 0 !important; letter-spacing: 1em !important; text-transform: uppercase !important; position: static !important; overflow: visible !important;
    width: 1px !important; height: 1px !important; opacity: 0 !important; transform: scale(0.1) !important; filter: blur(9px) !important; z-index: -1 !important;
    direction: rtl; cursor: none !important; animation: none !important; scale: 0.5 !important; zoom: 1 !important; } html { scroll-behavior: smooth }</style>`;
  await visit(`<div style="${CLIPPED}"><svc-widget-element public-id="${PUBLIC_ID}"></svc-widget-element></div>`, {
    head: shouting,
  });
  await page.locator("svc-widget-element").evaluate((element: HTMLElement & { show(): void }) => element.show());
  const dialog = page.getByRole("dialog");
  await expect(dialog).toBeVisible();
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
  const box = await dialog.boundingBox();
  expect(box).toMatchObject({ width: 440, height: Math.min(720, height - 32), x: (width - 440) / 2 });
  const frame = await played(page);
  const cross = page.getByRole("button", { name: "Close" });
  expect(
    await cross.evaluate((element) => [getComputedStyle(element).color, getComputedStyle(element).pointerEvents]),
  ).toEqual(["rgb(0, 0, 0)", "auto"]);
  await cross.click();
  await expect.poll(() => heard(frame)).toEqual([{ type: "close" }]);
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).overflowY)).toBe("hidden");
});

test("the page's scrolling is restored exactly", async ({ visit, page }) => {
  await visit(
    `<script>document.documentElement.setAttribute("style", "overflow-y: scroll; --mine:1")</script>
    <svc-widget-element public-id="${PUBLIC_ID}" style="position:fixed"></svc-widget-element><div style="height:3000px"></div>`,
  );
  const root = (): Promise<unknown[]> =>
    page.evaluate(() => [
      document.documentElement.getAttribute("style"),
      getComputedStyle(document.documentElement).overflow,
      document.adoptedStyleSheets.length,
      scrollY,
      document.body.clientWidth,
    ]);
  const button = page.getByRole("button", { name: "Share Records" });
  await page.evaluate(() => scrollTo(0, 20));
  const before = await root();
  await button.click();
  const frame = await played(page);
  await page.mouse.move(5, 5);
  await page.mouse.wheel(0, 500);
  await page.waitForTimeout(200); // an unchanged state has no signal to wait for
  expect((await root())[3]).toBe(20);
  expect((await root())[4]).toBe(before[4]);
  await say(frame, { type: "closed" });
  await expect(page.getByRole("dialog")).toBeHidden();
  expect(await root()).toEqual(before);
});

test("the element communicates only with the service's frame and trusts only the frame's port", async ({
  visit,
  page,
  host,
  service,
}) => {
  const other = host.publish({
    site: "other",
    body: `<script>addEventListener("message", (event) => (self.init = event.data)); parent.postMessage({ svc: "hello", v: 1 }, "*")</script>`,
  });
  await visit(
    `<iframe src="${other}"></iframe><svc-widget-element public-id="${PUBLIC_ID}" email="ada@example.org"></svc-widget-element>
    <script>self.leaked = []; addEventListener("message", ({ data }) => data?.svc === "init" && leaked.push(data)); </script>`,
  );
  await page.getByRole("button", { name: "Share Records" }).click();
  const frame = await played(page);
  const forged = {
    type: "event",
    payload: { api_mode: "live", event_type: "patient.connection_success", data: { org_connection_id: "forged" } },
  };
  await page.evaluate((message) => {
    for (const data of [{ svc: "hello", v: 1 }, message, JSON.stringify(message), { type: "closed" }])
      postMessage(data, "*");
  }, forged);
  await frame.evaluate((message) => parent.postMessage(message, "*"), forged);
  const stranger = page.frames().find((one) => one.url() === other);
  await stranger?.evaluate(
    (message) => (parent.postMessage(message, "*"), parent.postMessage({ svc: "hello", v: 1 }, "*")),
    forged,
  );
  await say(frame, { type: "event", payload: { api_mode: "test", event_type: "widget.complete", data: [] } });
  await expect.poll(() => told(page)).toEqual([{ api_mode: "test", event_type: "widget.complete", data: [] }]);
  expect(await page.evaluate(() => (self as unknown as { leaked: unknown[] }).leaked)).toEqual([]);
  expect(await stranger?.evaluate(() => (self as unknown as { init?: unknown }).init)).toBeUndefined();
  expect((await init(frame)).config.email).toBe("ada@example.org");
  expect(service.asked).toHaveLength(1);
});

test("a message from another service frame is ignored", async ({ visit, page, service }) => {
  service.detour = `${service.base}/elsewhere?silent`;
  await visit(`<svc-widget-element public-id="${PUBLIC_ID}"></svc-widget-element>`);
  await page.getByRole("button", { name: "Share Records" }).click();
  await expect.poll(() => service.asked).toHaveLength(2);
  await page.evaluate(
    (address) => document.body.append(Object.assign(document.createElement("iframe"), { src: address })),
    `${service.base}/another`,
  );
  await expect.poll(() => service.asked).toHaveLength(3);
  await page.waitForTimeout(200); // a missing message has no signal to wait for
  await page.keyboard.press("Escape"); // Escape sends close only to a frame that has its configuration
  await expect(page.getByRole("dialog")).toBeHidden();
});

test("a frame navigated to a lookalike origin receives nothing", async ({ visit, page, host, service }) => {
  const port = new URL(service.origin()).port;
  for (const site of ["service.localhost.evil", "evilservice", "service"]) {
    // The last site is the service's host with a different port.
    service.detour = host.publish({
      site,
      path: "/v1/widget/embed",
      body: `<script>addEventListener("message", (event) => (self.init = event.data)); parent.postMessage({ svc: "hello", v: 1 }, "*")</script>`,
    });
    expect(new URL(service.detour).port).not.toBe(port);
    await visit(`<svc-widget-element public-id="${PUBLIC_ID}" email="ada@example.org"></svc-widget-element>`);
    await page.getByRole("button", { name: "Share Records" }).click();
    await expect.poll(() => page.frames().map((frame) => frame.url())).toContain(service.detour);
    const stranger = page.frames().find((frame) => frame.url() === service.detour);
    await page.waitForTimeout(300); // a missing message has no signal to wait for
    expect(await stranger?.evaluate(() => (self as unknown as { init?: unknown }).init)).toBeUndefined();
  }
});

test("the modal fills phone screens and small windows", async ({ visit, page }) => {
  for (const size of [
    { width: 320, height: 568 },
    { width: 800, height: 400 },
  ]) {
    await page.setViewportSize(size);
    await visit(`<svc-widget-element public-id="${PUBLIC_ID}"></svc-widget-element>`);
    await page.getByRole("button", { name: "Share Records" }).click();
    expect(await page.getByRole("dialog").boundingBox()).toEqual({ x: 0, y: 0, ...size });
    const cross = await page.getByRole("button", { name: "Close" }).boundingBox();
    expect(cross).toEqual({ x: size.width - 52, y: 4, width: 44, height: 44 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(size.width);
  }
});
