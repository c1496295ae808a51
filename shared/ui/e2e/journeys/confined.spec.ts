/**
 * Customers' pages with restrictions: isolated, sandboxed or without TLS. The widget reports the restriction, and sends
 * no request that would fail.
 */
import type { Page } from "@playwright/test";
import { callbacks, heard, heardTypes, markup, script, visit } from "../support/customer.ts";
import type { Placed } from "../support/customer.ts";
import type { Host } from "../support/host.ts";
import { Patient, Portal } from "../support/patient.ts";
import type { Run } from "../support/run.ts";
import { expect, test } from "../support/test.ts";

const attributes = { "search-only": "" };

for (const embedder of ["require-corp", "credentialless"]) {
  test(`a page with COEP ${embedder} connects a patient`, async ({ page, run, host }) => {
    const headers = { "cross-origin-embedder-policy": embedder, "cross-origin-opener-policy": "same-origin" };
    await visit(page, run, host, { attributes, headers });
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
    const patient = new Patient(page);
    await patient.open();
    await patient.connect();
    expect(await heardTypes(page)).toEqual(["patient.connection_pending", "patient.connection_success"]);
  });
}

/** A script that forwards the sandboxed page's events to its parent, because the page's own document may be inaccessible. */
const tells = `<script>
  for (const type of ["eventBus", "orgConnectionCallback"]) document.addEventListener(type, (event) => parent.postMessage(structuredClone(event.detail), "*"));
</script>`;

/** Opens a customer's page in another page's sandbox. */
async function confine(page: Page, run: Run, host: Host, sandbox: string, placed: Placed): Promise<Patient> {
  const inner = host.publish({
    path: "/inner",
    head: script(run) + tells,
    body: `<main>${markup(run, placed)}</main>`,
  });
  const keeps = "<script>window.said = []; addEventListener('message', ({ data }) => said.push(data));</script>";
  await page.setViewportSize({ width: 1280, height: 1000 }); // nothing scrolls, because a click in nested frames can miss what just scrolled
  await page.goto(
    host.publish({
      site: "outer",
      body: `${keeps}<iframe title="inner" sandbox="${sandbox}" src="${inner}" width="700" height="900"></iframe>`,
    }),
  );
  return new Patient(page, page.frameLocator("iframe").frameLocator("svc-widget-element iframe"));
}

const said = (page: Page): Promise<unknown[]> => page.evaluate(() => (window as unknown as { said: unknown[] }).said);
const configError = { api_mode: "test", event_type: "widget.config_error" };

for (const [tag, expected] of [
  ["svc-widget-element", configError],
  [
    "svc-widget",
    {
      error: "svc_invalid_request",
      error_description: expect.stringContaining("allow-same-origin"),
      request_id: expect.any(String),
    },
  ],
] as const) {
  test(`${tag} reports a sandbox without allow-same-origin`, async ({ page, run, host }) => {
    await confine(page, run, host, "allow-scripts allow-popups allow-forms", { tag });
    const inner = page.frameLocator("iframe");
    await inner.getByRole("button").first().click();
    await expect.poll(() => said(page)).toEqual([expected]);
    if (tag === "svc-widget-element")
      await expect(inner.getByRole("alert")).toContainText("sandboxed without allow-same-origin");
  });
}

test("a sandbox without allow-popups and allow-forms is reported when the window cannot open", async ({
  page,
  run,
  host,
}) => {
  await page.clock.install();
  const patient = await confine(page, run, host, "allow-scripts allow-same-origin", {});
  await page.frameLocator("iframe").getByRole("button").first().click();
  await patient.proveEmail(run);
  await patient.pick();
  await patient.button("go").click();
  await patient.sees("waiting_title");
  await patient.where.getByRole("button", { name: patient.lang.say("waiting_open") }).click();
  await page.clock.runFor(8_000);
  await patient.sees("config_title");
  await expect(patient.where.getByText("allow-popups")).toBeVisible();
  expect(await said(page)).toEqual([configError]);
  expect(page.context().pages()).toHaveLength(1);
});

test("popup mode reports a sandbox without allow-popups immediately", async ({ page, run, host }) => {
  await confine(page, run, host, "allow-scripts allow-same-origin allow-forms", {
    tag: "svc-widget",
    attributes: { "connect-mode": "popup" },
  });
  await page.frameLocator("iframe").getByRole("button").first().click();
  const failure = {
    error: "svc_invalid_request",
    error_description: expect.stringContaining("allow-popups"),
    request_id: expect.any(String),
  };
  await expect.poll(() => said(page)).toEqual([failure]);
});

test("a sandbox with the documented permissions connects a patient", async ({ page, run, host }) => {
  const patient = await confine(
    page,
    run,
    host,
    "allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-forms",
    { attributes },
  );
  await page.frameLocator("iframe").getByRole("button").first().click();
  await patient.connect();
  expect((await said(page)).map((one) => (one as { event_type: string }).event_type)).toEqual([
    "patient.connection_pending",
    "patient.connection_success",
  ]);
});

/** Opens a customer's page without TLS. The page is not on localhost, which browsers treat as secure, so the test fulfills the page's request itself. */
async function withoutTLS(page: Page, run: Run, placed: Placed): Promise<void> {
  const html = `<!doctype html><html lang="en"><title>Alder Clinic</title>${script(run)}<main>${markup(run, placed)}</main></html>`;
  await page.route("http://clinic.example/", (route) => route.fulfill({ contentType: "text/html", body: html }));
  await page.addInitScript(() => {
    window.heard ??= [];
    for (const name of ["eventBus", "orgConnectionCallback"]) {
      document.addEventListener(name, (event) =>
        window.heard.push({ name, detail: event instanceof CustomEvent ? structuredClone(event.detail) : null }),
      );
    }
  });
  await page.goto("http://clinic.example/");
  expect(await page.evaluate(() => [isSecureContext, "subtle" in crypto])).toEqual([false, false]);
}

test("a page without TLS connects a patient", async ({ page, run }) => {
  await withoutTLS(page, run, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.connect();
  expect((await heard(page)).map((one) => one.event_type)).toEqual([
    "patient.connection_pending",
    "patient.connection_success",
  ]);
});

test("popup mode works on a page without TLS", async ({ page, run }) => {
  await withoutTLS(page, run, { tag: "svc-widget", attributes: { "connect-mode": "popup" } });
  const opening = page.context().waitForEvent("page");
  await page.locator("svc-widget").getByRole("button").click();
  const patient = new Patient(page, await opening);
  await patient.arrive(run);
  await patient.pick();
  await patient.button("go").click();
  await new Portal(await opening).signInAndAllow();
  await expect.poll(() => callbacks(page)).toEqual([expect.objectContaining({ connection_status: "authorized" })]);
});

test("popup mode reuses the attempt when the response to creating it is lost", async ({ page, context, run, host }) => {
  const failed: string[] = [];
  const made: string[] = [];
  context.on(
    "response",
    (response) => response.status() >= 400 && failed.push(`${response.status()} ${response.url()}`),
  );
  await context.route(/\/bridge\/attempts\?/, async (route) => {
    const response = await route.fetch();
    made.push(((await response.json()) as { data: { attempt_id: string } }).data.attempt_id);
    if (made.length === 1) await route.abort("connectionfailed");
    else await route.fulfill({ response });
  });
  await page.clock.install();
  await visit(page, run, host, { tag: "svc-widget", attributes: { "connect-mode": "popup" } });
  const opening = context.waitForEvent("page");
  await page.locator("svc-widget").getByRole("button").click();
  const window = await opening;
  const patient = new Patient(window, window);
  await patient.arrive(run);
  await patient.pick();
  await page.clock.runFor(11_000);
  await patient.button("go").click();
  await patient.button("try_again").click();
  await new Portal(window).signInAndAllow();
  await expect.poll(() => callbacks(page)).toHaveLength(1);
  expect(new Set(made).size).toBe(1);
  expect(made).toHaveLength(2);
  expect(failed).toEqual([]);
});
