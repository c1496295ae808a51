/** svc-widget, the older element: redirect and popup mode. */
import { type Page } from "@playwright/test";
import { CONNECTED, expect, heard, init, played, PUBLIC_ID, REFUSED, RESULT, say, test, told } from "./stage.ts";

const ATTRIBUTES = `public-id="${PUBLIC_ID}" external-id="visit-9" external-state="state-9" request-id="r-1"`;
const POPUP = `<svc-widget ${ATTRIBUTES} connect-mode="popup"></svc-widget>`;
const button = { name: "Share Records" };

/** Clicks the button and returns the opened window. */
async function opened(page: Page): Promise<Page> {
  const [popup] = await Promise.all([page.waitForEvent("popup"), page.getByRole("button", button).click()]);
  await popup.waitForURL("**/widget/connect**");
  return popup;
}

test("redirect mode is the default and opens the connect endpoint with the attributes", async ({
  visit,
  page,
  service,
}) => {
  await visit(
    `<svc-widget ${ATTRIBUTES} redirect-uri="https://clinic.example/back?a=1" reconnect-org-connection-id="" endpoint-id="e-1"></svc-widget>`,
  );
  await page.getByRole("button", button).click();
  await page.waitForURL("**/bridge/connect?**");
  const address = new URL(page.url());
  expect(address.origin + address.pathname).toBe(`${service.base}/bridge/connect`);
  expect(Object.fromEntries(address.searchParams)).toEqual({
    public_id: PUBLIC_ID,
    redirect_uri: "https://clinic.example/back?a=1",
    request_id: "r-1",
    external_id: "visit-9",
    external_state: "state-9",
    endpoint_id: "e-1",
    lang: "en",
  });
});

test("popup mode creates the attempt in the page and passes it to the window and the hidden frame", async ({
  visit,
  page,
  service,
}) => {
  await visit(POPUP);
  const popup = await opened(page);
  const address = new URL(popup.url());
  const fragment = Object.fromEntries(new URLSearchParams(address.hash.slice(1)));
  expect(fragment).toEqual({
    attempt_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    attempt_token: expect.stringMatching(/^[0-9a-f]{64}$/),
    request_id: "r-1",
    external_id: "visit-9",
    external_state: "state-9",
  });
  const frame = await played(page);
  const { watch, config } = await init(frame);
  expect(watch).toEqual({ attemptId: fragment["attempt_id"], attemptToken: fragment["attempt_token"] });
  expect(config.externalId).toBe("visit-9");
  expect(service.asked.sort()).toEqual([
    `/v1/widget/connect?public_id=${PUBLIC_ID}&lang=en`,
    `/v1/widget/embed?public_id=${PUBLIC_ID}&lang=en`,
  ]);
  expect(await popup.evaluate(() => self.name)).toBe(`svc-${fragment["attempt_id"]}`);
  await expect(page.locator("iframe")).toBeHidden();
});

test("popup mode reports the server's result once", async ({ visit, page }) => {
  await visit(POPUP);
  await opened(page);
  const frame = await played(page);
  await say(frame, { type: "event", payload: CONNECTED }); // an event of the other element
  await say(frame, { type: "result", callback: RESULT }, { type: "result", callback: REFUSED });
  await expect(page.locator("iframe")).toHaveCount(0);
  expect(await told(page)).toEqual([RESULT]);
});

test("only the popup's own messages reach the hidden frame", async ({ visit, page, host, service }) => {
  await visit(POPUP);
  const popup = await opened(page);
  const frame = await played(page);
  const said = (attemptId: string): object => ({ svc: "here", attemptId, made: false });
  await page.evaluate((message) => postMessage(message, "*"), said("forged by the page"));
  const evil = host.publish({
    site: "evil",
    body: `<script>parent.postMessage(${JSON.stringify(said("forged by a stranger"))}, "*")</script>`,
  });
  await page.evaluate((address) => {
    document.body.append(Object.assign(document.createElement("iframe"), { src: address }));
  }, evil);
  await expect.poll(() => page.frames().map((one) => one.url())).toContain(evil);
  await popup.evaluate((message) => (opener as Window).postMessage(message, "*"), said("own"));
  await expect.poll(() => heard(frame)).toEqual([said("own")]);
  expect(new URL(popup.url()).origin).toBe(service.origin());
});

test("a blocked popup is reported immediately", async ({ visit, page }) => {
  await page.addInitScript(() => {
    window.open = () => null;
  });
  await visit(POPUP);
  await page.getByRole("button", button).click();
  await expect
    .poll(() => told(page))
    .toEqual([
      {
        error: "svc_invalid_request",
        error_description: "The browser didn't open a window. A sandboxed frame needs allow-popups.",
        request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        external_state: "state-9",
      },
    ]);
  await expect(page.locator("iframe")).toHaveCount(0);
});

test("a severed or closed popup still reports its result", async ({ visit, page }) => {
  await visit(POPUP, { headers: { "cross-origin-opener-policy": "same-origin" } });
  const [popup] = await Promise.all([page.context().waitForEvent("page"), page.getByRole("button", button).click()]);
  await popup.waitForURL("**/widget/connect**");
  expect(await popup.evaluate(() => opener)).toBeNull();
  await popup.close();
  await say(await played(page), { type: "result", callback: RESULT });
  await expect.poll(() => told(page)).toHaveLength(1);
});

const CLOSED = {
  error: "svc_invalid_request",
  error_description: "The patient closed the window.",
  request_id: expect.any(String),
  external_state: "state-9",
};

/** Sets the focus state that the element reads, because Playwright focuses every page. */
const focus = (page: Page, has: boolean): Promise<void> =>
  page.evaluate((value) => {
    document.hasFocus = () => value;
  }, has);

/**
 * Sends the popup page's message, which the page repeats while it is open, and sends when it leaves for the portal
 * (made).
 */
async function announce(popup: Page, page: Page, made: boolean): Promise<void> {
  const { watch } = await init(await played(page));
  const said = { svc: "here", attemptId: watch?.attemptId, made };
  await popup.evaluate((message) => (opener as Window).postMessage(message, "*"), said);
  await expect.poll(async () => heard(await played(page))).toContainEqual(said);
}

test("a popup that the patient closes before the portal is reported within seconds", async ({
  visit,
  page,
  context,
}) => {
  await page.clock.install();
  await visit(POPUP);
  const popup = await opened(page);
  await announce(popup, page, false);
  await popup.close();
  await expect.poll(() => context.pages()).toHaveLength(1);
  await focus(page, false);
  await page.clock.runFor(60_000);
  expect(await told(page)).toEqual([]);
  await focus(page, true);
  await page.clock.runFor(2_000);
  expect(await told(page)).toEqual([]);
  await page.clock.runFor(2_000);
  expect(await told(page)).toEqual([CLOSED]);
  await expect(page.locator("iframe")).toHaveCount(0);
});

test("a popup closed at the portal is reported after the page has had the focus for a minute", async ({
  visit,
  page,
  context,
}) => {
  await page.clock.install();
  await visit(POPUP);
  const popup = await opened(page);
  await announce(popup, page, false);
  await announce(popup, page, true);
  await popup.close();
  await expect.poll(() => context.pages()).toHaveLength(1);
  await page.clock.runFor(58_000);
  await focus(page, false); // the patient is in the window after all
  await page.clock.runFor(58_000);
  await focus(page, true);
  await page.clock.runFor(58_000);
  expect(await told(page)).toEqual([]);
  await page.clock.runFor(4_000);
  expect(await told(page)).toEqual([CLOSED]);
});

test("a result that arrives during the wait for a closed popup replaces the error", async ({
  visit,
  page,
  context,
}) => {
  await page.clock.install();
  await visit(POPUP);
  const popup = await opened(page);
  await announce(popup, page, true);
  await popup.close();
  await expect.poll(() => context.pages()).toHaveLength(1);
  await page.clock.runFor(30_000);
  await page.clock.resume(); // the frame sends its message from a timer
  await say(await played(page), { type: "result", callback: RESULT });
  await expect.poll(() => told(page)).toEqual([RESULT]);
  await page.clock.runFor(60_000);
  expect(await told(page)).toEqual([RESULT]);
});

test("a message from another window does not shorten the wait for a closed popup", async ({ visit, page, context }) => {
  await page.clock.install();
  await visit(POPUP);
  const popup = await opened(page);
  await played(page);
  await popup.evaluate(() => (opener as Window).postMessage({ svc: "here", attemptId: "another", made: false }, "*"));
  await popup.close();
  await expect.poll(() => context.pages()).toHaveLength(1);
  await page.clock.runFor(50_000);
  expect(await told(page)).toEqual([]);
  await page.clock.runFor(12_000);
  expect(await told(page)).toEqual([CLOSED]);
});

test("a second click focuses the popup, or starts another attempt if it was closed", async ({
  visit,
  page,
  context,
}) => {
  await visit(POPUP);
  const popup = await opened(page);
  await page.getByRole("button", button).click();
  expect(context.pages()).toHaveLength(2);
  await popup.close();
  await expect.poll(() => context.pages()).toHaveLength(1);
  await opened(page);
  const [first, second] = [await played(page), await played(page, 1)];
  expect((await init(first)).watch).not.toEqual((await init(second)).watch);
  await say(first, { type: "result", callback: RESULT });
  await say(second, { type: "result", callback: REFUSED });
  await expect.poll(() => told(page)).toHaveLength(2);
});

test("hide() closes the popup, and removing the element stops waiting", async ({ visit, page, context }) => {
  await visit(POPUP);
  await opened(page);
  await played(page);
  await page.locator("svc-widget").evaluate((widget: HTMLElement & { hide(): void }) => widget.hide());
  await expect.poll(() => context.pages()).toHaveLength(1);
  await expect(page.locator("iframe")).toHaveCount(0);
  await opened(page);
  await played(page);
  await page.locator("svc-widget").evaluate((widget) => widget.remove());
  await expect.poll(() => page.frames()).toHaveLength(1);
  expect(context.pages()).toHaveLength(2);
  expect(await told(page)).toEqual([]);
});

for (const [attribute, minutes] of [
  [`popup-timeout="5"`, 5],
  ["", 30],
  [`popup-timeout="soon"`, 30],
  [`popup-timeout="-1"`, 30],
  [`popup-timeout="99999"`, 30],
] as const) {
  test(`an attempt times out after popup-timeout (${attribute || "by default"})`, async ({ visit, page, context }) => {
    await page.clock.install();
    await visit(POPUP.replace("connect-mode", `${attribute} connect-mode`));
    await opened(page);
    const { watch } = await init(await played(page));
    await page.clock.runFor(minutes * 60_000 - 20_000);
    expect(await told(page)).toEqual([]);
    await page.clock.runFor(20_000);
    expect(await told(page)).toEqual([
      {
        error: "svc_invalid_request",
        error_description: "The patient did not finish within popup-timeout.",
        request_id: watch?.attemptId,
        external_state: "state-9",
      },
    ]);
    await expect.poll(() => context.pages()).toHaveLength(1);
  });
}

for (const mode of ["redirect", "popup"]) {
  test(`a configuration error in ${mode} mode is reported without navigation`, async ({
    visit,
    page,
    context,
    service,
  }) => {
    const warnings: string[] = [];
    page.on("console", (message) => message.type() === "warning" && warnings.push(message.text()));
    await visit(`<svc-widget connect-mode="${mode}"></svc-widget>`);
    await page.getByRole("button", button).click();
    expect(await told(page)).toEqual([
      {
        error: "svc_invalid_request",
        error_description: "The widget is misconfigured: public-id is missing.",
        request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
    ]);
    expect(warnings).toEqual(["svc-widget: misconfigured: public-id is missing"]);
    expect(context.pages()).toHaveLength(1);
    expect(service.asked).toEqual([]);
  });
}
