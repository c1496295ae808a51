/** Journeys without a frame: redirect mode, links, web views, and the older element's window. */
import type { Page } from "@playwright/test";
import { findings } from "../support/axe.ts";
import { callbacks, heard, visit } from "../support/customer.ts";
import { Patient, Portal } from "../support/patient.ts";
import { customer, INSTITUTIONS } from "../support/run.ts";
import type { Run } from "../support/run.ts";
import { expect, test } from "../support/test.ts";

/** The URL at which the redirect returned the patient. */
async function landed(page: Page, run: Run): Promise<URLSearchParams> {
  const { redirect_uri: back } = customer(run);
  await page.waitForURL((url) => url.href.startsWith(back));
  return new URL(page.url()).searchParams;
}

const echoed = { "external-id": "patient-7", "external-state": "visit-9", "request-id": "ticket-3" };

async function toHostedPage(page: Page, run: Run): Promise<Patient> {
  await page.locator("svc-widget").getByRole("button").click();
  const patient = new Patient(page, page);
  await patient.arrive(run);
  expect(page.url()).toContain("/widget/connect?");
  return patient;
}

async function toWindow(page: Page, run: Run): Promise<Patient> {
  const opening = page.context().waitForEvent("page");
  await page.locator("svc-widget").getByRole("button").click();
  const window = await opening;
  const patient = new Patient(window, window);
  await patient.arrive(run);
  return patient;
}

test("redirect mode connects a patient and returns the result", async ({ page, run, host }) => {
  await visit(page, run, host, { tag: "svc-widget", attributes: { ...echoed } });
  const patient = await toHostedPage(page, run);
  await patient.pick();
  await patient.button("go").click();
  await new Portal(page).signInAndAllow();
  const result = await landed(page, run);
  expect(Object.fromEntries(result)).toMatchObject({
    org_connection_id: expect.any(String),
    brand_id: run.sandbox.brand_id,
    portal_id: run.sandbox.portal_id,
    endpoint_id: run.sandbox.endpoint_id,
    platform_type: "sandbox",
    external_id: "patient-7",
    external_state: "visit-9",
    request_id: "ticket-3",
    connection_status: "authorized",
  });
});

test("the hosted pages are accessible", async ({ page, run }) => {
  const { public_id, redirect_uri } = customer(run);
  await page.goto(`${run.base_url}/bridge/connect?${new URLSearchParams({ public_id, redirect_uri })}`);
  const patient = new Patient(page, page);
  await patient.sees("splash_title");
  expect(await findings(page)).toEqual([]);
  await patient.arrive(run);
  expect(await findings(page)).toEqual([]);
  await patient.pick();
  expect(await findings(page)).toEqual([]);
  for (const path of [
    "/bridge/callback?state=x&error=access_denied",
    "/bridge/connect?attempt=x",
    "/widget/connect?public_id=public_test_unknown",
  ]) {
    await page.goto(run.base_url + path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    expect(await findings(page)).toEqual([]);
  }
});

test("redirect mode returns a portal's error", async ({ page, run, host }) => {
  await visit(page, run, host, { tag: "svc-widget", attributes: echoed });
  const patient = await toHostedPage(page, run);
  await patient.pick(INSTITUTIONS.refusing.name);
  await patient.button("go").click();
  const result = await landed(page, run);
  expect(result.get("external_state")).toBe("visit-9");
  expect(result.get("error")).not.toBeNull();
  expect(result.get("error_description")).toMatch(/^[ -~]+$/);
  expect(result.get("request_id")).not.toBeNull();
});

test("redirect mode renews a connection without a search", async ({ page, run, host }) => {
  await visit(page, run, host, { tag: "svc-widget" });
  const patient = await toHostedPage(page, run);
  await patient.pick();
  await patient.button("go").click();
  await new Portal(page).signInAndAllow();
  const id = (await landed(page, run)).get("org_connection_id") ?? "";

  await visit(page, run, host, { tag: "svc-widget", attributes: { "reconnect-org-connection-id": id } });
  await page.locator("svc-widget").getByRole("button").click();
  await page
    .getByRole("button", { name: patient.lang.say("go") })
    .or(page.getByRole("heading", { name: "Sign in" }))
    .first()
    .waitFor();
  if (page.url().includes("/widget/connect")) await patient.button("go").click();
  await new Portal(page).signInAndAllow();
  expect((await landed(page, run)).get("org_connection_id")).toBe(id);
});

test("popup mode renews a connection without a search", async ({ page, run, host }) => {
  await visit(page, run, host, { attributes: { "search-only": "" } });
  const first = new Patient(page);
  await first.open();
  await first.connect();
  const connected = (await heard(page)).find((one) => one.event_type === "patient.connection_success");
  const id = connected?.event_type === "patient.connection_success" ? connected.data.org_connection_id : "";

  await visit(page, run, host, {
    tag: "svc-widget",
    attributes: { "connect-mode": "popup", "reconnect-org-connection-id": id },
  });
  const opening = page.context().waitForEvent("page");
  await page.locator("svc-widget").getByRole("button").click();
  const window = await opening;
  const patient = new Patient(window, window);
  await patient.button("go").click();
  await new Portal(window).signInAndAllow();
  await expect
    .poll(() => callbacks(page))
    .toEqual([expect.objectContaining({ org_connection_id: id, connection_status: "authorized" })]);
});

test("an unregistered redirect URI is rejected", async ({ page, run, host }) => {
  const address = `${run.base_url}/bridge/connect?${new URLSearchParams({ public_id: customer(run).public_id, redirect_uri: host.origin("evil") })}`;
  await page.goto(address);
  expect(page.url()).toBe(address);
});

test("popup mode reports the result to the page", async ({ page, run, host }) => {
  await visit(page, run, host, { tag: "svc-widget", attributes: { ...echoed, "connect-mode": "popup" } });
  const patient = await toWindow(page, run);
  await patient.pick();
  await patient.button("go").click();
  await new Portal(patient.page).signInAndAllow();
  await expect.poll(() => callbacks(page)).toHaveLength(1);
  const [result] = await callbacks(page);
  expect(result).toEqual({
    org_connection_id: expect.any(String),
    endpoint_id: run.sandbox.endpoint_id,
    portal_id: run.sandbox.portal_id,
    brand_id: run.sandbox.brand_id,
    connection_status: "authorized",
    platform_type: "sandbox",
    scope: "launch/patient patient/*.rs offline_access",
    request_id: "ticket-3",
    external_id: "patient-7",
    external_state: "visit-9",
  });
});

test("popup mode reports a portal's error from a severed window", async ({ page, run, host }) => {
  await visit(page, run, host, {
    tag: "svc-widget",
    attributes: { ...echoed, "connect-mode": "popup" },
    headers: { "cross-origin-opener-policy": "same-origin" },
  });
  const patient = await toWindow(page, run);
  await patient.pick(INSTITUTIONS.refusing.name);
  await patient.button("go").click();
  await expect.poll(() => callbacks(page), { timeout: 15_000 }).toHaveLength(1); // a severed window gets time to send a message
  const [result] = (await callbacks(page)) as Record<string, string>[];
  expect(Object.keys(result ?? {}).sort()).toEqual(["error", "error_description", "external_state", "request_id"]);
});

test("popup mode keeps personal data out of URLs", async ({ page, context, run, host }) => {
  const addresses: string[] = [];
  context.on("request", (request) => addresses.push(request.url()));
  await visit(page, run, host, { tag: "svc-widget", attributes: { ...echoed, "connect-mode": "popup" } });
  await toWindow(page, run);
  expect(addresses.filter((address) => /patient-7|visit-9|attempt_token/.test(address.split("#")[0] ?? ""))).toEqual(
    [],
  );
});

test("a web view's bridge receives the events", async ({ page, run }) => {
  const told: string[] = [];
  await page.exposeFunction("tellApp", (text: string) => told.push(text));
  await page.addInitScript(() => {
    const { tellApp } = window as unknown as { tellApp: (text: string) => void };
    Object.assign(window, { ReactNativeWebView: { postMessage: (text: string) => tellApp(text) } });
  });
  const { public_id, redirect_uri } = customer(run);
  await page.goto(
    `${run.base_url}/bridge/connect?${new URLSearchParams({ public_id, redirect_uri, external_id: "patient-7" })}`,
  );
  const patient = new Patient(page, page);
  await patient.arrive(run);
  await patient.pick();
  await patient.button("go").click();
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  expect(told.map((text) => JSON.parse(text))).toEqual([
    {
      api_mode: "test",
      event_type: "patient.connection_pending",
      data: expect.objectContaining({ public_id, endpoint_id: run.sandbox.endpoint_id, external_id: "patient-7" }),
    },
  ]);
});
