/** Tests unusual customers' pages: several widgets, small screens, other languages, and keyboard-only use. */
import { heardTypes, markup, script, violations, visit } from "../support/customer.ts";
import { newEmail, Patient, Portal, spanish } from "../support/patient.ts";
import { expect, test } from "../support/test.ts";

const attributes = { "search-only": "" };

test("two widgets on a page are independent", async ({ page, run, host }) => {
  const one = markup(run, { attributes: { ...attributes, id: "one", "external-id": "first" } });
  const two = markup(run, { attributes: { ...attributes, id: "two", "external-id": "second" } });
  await visit(page, run, host, { elements: one + two });
  await page.locator("#two").getByRole("button").first().click();
  const patient = new Patient(page, page.frameLocator("#two iframe"));
  await patient.connect();
  await expect(page.locator("#one dialog")).toBeHidden();
  const sources = await page.evaluate(() =>
    window.heard.map((one) => (one.detail as { data: { external_id?: string } }).data.external_id),
  );
  expect(new Set(sources)).toEqual(new Set(["second"]));
});

test("the script can be loaded several times", async ({ page, run, host }) => {
  const errors: Error[] = [];
  page.on("pageerror", (error) => errors.push(error));
  const again = `<script type="module" src="${run.base_url}/sdk/4/svc-widget.js?again"></script>`;
  await visit(page, run, host, { attributes, head: script(run) + again });
  await page.addScriptTag({ type: "module", url: `${run.base_url}/sdk/4/svc-widget.js?later` });
  const patient = new Patient(page);
  await patient.open();
  await patient.sees("search_title");
  expect(errors).toEqual([]);
});

test("a journey completes under a strict CSP and hostile page styles", async ({ page, run, host }) => {
  const policy = `default-src 'none'; script-src ${run.base_url}/; frame-src ${run.base_url}/; require-trusted-types-for 'script'; trusted-types 'none'; img-src data:`;
  const clipped = `<div id="clip">${markup(run, { attributes })}</div>`;
  await visit(page, run, host, { elements: clipped, headers: { "content-security-policy": policy } });
  await page.evaluate(() => {
    const shouting = new CSSStyleSheet();
    shouting.replaceSync(
      "* { font-size: 1px !important; position: static !important; transform: scale(0.5) !important; opacity: 0.1 !important } #clip { overflow: hidden; width: 9rem; height: 3rem }",
    );
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, shouting];
  });
  const patient = new Patient(page);
  await patient.open();
  await patient.connect();
  await patient.finish();
  expect(await violations(page)).toEqual([]);
});

test("the frame stores only the tab's visit and sends no cookies", async ({ page, run, host }) => {
  const cookies: string[] = [];
  page.on(
    "request",
    (request) => void request.allHeaders().then((headers) => headers["cookie"] && cookies.push(request.url())),
  );
  page.on(
    "response",
    (response) => void response.allHeaders().then((headers) => headers["set-cookie"] && cookies.push(response.url())),
  );
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.connect();
  const frame = page.frames().find((one) => one.url().includes("/widget/embed"));
  const kept = await frame?.evaluate(async () => [
    document.cookie,
    localStorage.length,
    Object.keys(sessionStorage).join(),
    (await indexedDB.databases()).length,
    (await caches.keys()).length,
  ]);
  expect(kept).toEqual(["", 0, "visit", 0, 0]);
  expect(cookies).toEqual([]);
});

test("URLs contain no personal data", async ({ page, context, run, host }) => {
  const addresses: string[] = [];
  context.on("request", (request) => addresses.push(request.url()));
  await visit(page, run, host, {
    attributes: { email: newEmail(), "external-id": "patient-7", "search-query": "Zanzibar" },
  });
  const patient = new Patient(page);
  await patient.open();
  await patient.proveEmail(run);
  await patient.connect();
  expect(addresses.filter((address) => /ada\.maple|patient-7|Zanzibar/i.test(address))).toEqual([]);
});

test("no horizontal scrolling at 320 px or 400 % zoom", async ({ page, run, host }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await visit(page, run, host, { attributes: { "show-splash": "" } });
  const patient = new Patient(page);
  await patient.open();
  const fits = async (): Promise<void> => {
    const frame = page.frames().find((one) => one.url().includes("/widget/embed"));
    expect(
      await frame?.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth),
    ).toBe(true);
  };
  await patient.sees("splash_title");
  await fits();
  await patient.agree();
  await patient.sees("email_title");
  await fits();
  await patient.proveEmail(run);
  await patient.find("Sandbox");
  await expect(patient.where.getByRole("button", { name: "Sandbox Hospital" }).first()).toBeVisible();
  await fits();
  await patient.pick();
  await fits();
  await page.setViewportSize({ width: 320, height: 256 });
  await patient.button("go").scrollIntoViewIfNeeded();
  await patient.leave();
  await patient.sees("waiting_title");
  await fits();
});

test("the widget follows the page's language", async ({ page, run, host }) => {
  await visit(page, run, host, { attributes, lang: "es-MX" });
  const patient = new Patient(page, undefined, spanish);
  await expect(page.locator("svc-widget-element").getByRole("button", { name: "Compartir registros" })).toBeVisible();
  await patient.open();
  await patient.connect();
  await patient.finish();
});

test("the patient can switch the language once its translation has loaded", async ({ page, run, host }) => {
  let lost = 0;
  await page.route(/\/widget\/assets\/es-\w+\.js/, (route) => (lost++ === 0 ? route.abort() : route.continue()));
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.sees("search_title");
  expect(lost).toBe(0);
  await patient.button("language").click();
  await expect.poll(() => lost).toBe(1);
  await patient.sees("search_title");
  await expect(async () => {
    await patient.button("language").click();
    await expect(new Patient(page, undefined, spanish).heading("search_title")).toBeVisible({ timeout: 2_000 });
  }).toPass();
});

test("a patient connects with the keyboard alone", async ({ page, context, run, host }) => {
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await patient.sees("search_title");

  /** Presses Tab until the given element has the focus. */
  const tabTo = async (name: RegExp): Promise<void> => {
    const frame = page.frames().find((one) => one.url().includes("/widget/embed"));
    for (let i = 0; i < 40; i++) {
      const focused = await frame?.evaluate(() => {
        const at = document.activeElement;
        if (at === document.body) return "";
        return at instanceof HTMLInputElement ? (at.labels?.[0]?.textContent ?? "") : (at?.textContent ?? "");
      });
      if (focused !== undefined && name.test(focused)) return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`the focus never came to ${name}`);
  };
  await tabTo(/Hospital, clinic/);
  await page.keyboard.type("Sandbox");
  await expect(patient.where.getByRole("button", { name: "Sandbox Hospital" }).first()).toBeVisible();
  await tabTo(/Sandbox Hospital/);
  await page.keyboard.press("Enter");
  await expect(patient.button("go")).toBeEnabled();
  await tabTo(/Continue to sign in/);
  const opening = context.waitForEvent("page");
  await page.keyboard.press("Enter");
  await new Portal(await opening).signInAndAllow();
  await patient.sees("success_title");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
  expect(await heardTypes(page)).toEqual([
    "patient.connection_pending",
    "patient.connection_success",
    "widget.complete",
    "widget.close",
  ]);
  expect(await page.evaluate(() => document.activeElement?.localName)).toBe("svc-widget-element");
});

test("each new view focuses its heading", async ({ page, run, host }) => {
  await visit(page, run, host, { attributes: { "show-splash": "" } });
  const patient = new Patient(page);
  await patient.open();
  await patient.sees("splash_title");
  await patient.agree();
  await expect(patient.heading("email_title")).toBeFocused();
});
