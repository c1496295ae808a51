/** The main journeys: a patient connects on a customer's page on another site. */
import { heard, heardTypes, violations, visit } from "../support/customer.ts";
import { Patient } from "../support/patient.ts";
import { INSTITUTIONS, SANDBOX } from "../support/run.ts";
import { expect, test } from "../support/test.ts";

test("a patient connects from splash to success, and the page receives the events", async ({ page, run, host }) => {
  await visit(page, run, host, {
    attributes: { "show-splash": "", "external-id": "patient-7", "external-state": "visit-9" },
  });
  const patient = new Patient(page);
  await patient.open();
  await patient.agree();
  await patient.proveEmail(run);
  await patient.pick();
  const portal = await patient.leave();
  await patient.sees("waiting_title");
  await portal.signInAndAllow();
  await patient.sees("success_title");
  await expect(patient.where.getByText("Patient’s initials: A. M.")).toBeVisible();
  expect(await heardTypes(page)).toEqual(["patient.connection_pending", "patient.connection_success"]);
  await patient.finish();

  const [pending, success, complete] = await heard(page);
  expect(JSON.stringify(success), "the page never gets the initials").not.toContain("A. M.");
  expect(pending?.api_mode).toBe("test");
  const institution = {
    brand_id: run.sandbox.brand_id,
    portal_id: run.sandbox.portal_id,
    endpoint_id: run.sandbox.endpoint_id,
  };
  const echoed = { external_id: "patient-7", external_state: "visit-9" };
  expect(pending).toMatchObject({ event_type: "patient.connection_pending", data: { ...institution, ...echoed } });
  expect(success).toMatchObject({
    event_type: "patient.connection_success",
    data: { ...institution, ...echoed, connection_status: "authorized", platform_type: "sandbox" },
  });
  expect(complete).toEqual({
    api_mode: "test",
    event_type: "widget.complete",
    data: success?.event_type === "patient.connection_success" ? [success.data] : [],
  });
  expect(await violations(page)).toEqual([]);
});

test("the sign-in window closes automatically at the end", async ({ page, run, host }) => {
  await visit(page, run, host, { attributes: { "search-only": "" } });
  const patient = new Patient(page);
  await patient.open();
  await patient.pick();
  const portal = await patient.leave();
  await portal.signIn();
  const closing = portal.page.waitForEvent("close");
  await portal.allow();
  await closing;
  await patient.sees("success_title");
});

test("widget.complete lists both connections of one visit", async ({ page, run, host }) => {
  await visit(page, run, host, { attributes: { "search-only": "" } });
  const patient = new Patient(page);
  await patient.open();
  await patient.connect(SANDBOX);
  await patient.button("another").click();
  await patient.connect(INSTITUTIONS.second.name);
  await patient.finish();
  const complete = (await heard(page)).at(-2);
  expect(complete?.event_type === "widget.complete" && complete.data.length).toBe(2);
});

test("closing immediately emits widget.complete without connections", async ({ page, run, host }) => {
  await visit(page, run, host);
  const patient = new Patient(page);
  await patient.open();
  await patient.sees("email_title");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
  expect(await heard(page)).toEqual([
    { api_mode: "test", event_type: "widget.complete", data: [] },
    { api_mode: "test", event_type: "widget.close", data: {} },
  ]);
});

test("search.query is emitted only on opt-in", async ({ page, run, host }) => {
  await visit(page, run, host, {
    attributes: { "search-only": "", "event-types": "search.query", "external-id": "patient-7" },
  });
  const patient = new Patient(page);
  await patient.open();
  await patient.find("sandbox");
  await expect.poll(() => heardTypes(page)).toContain("search.query");
  const [told] = await heard(page);
  expect(told).toEqual({
    api_mode: "test",
    event_type: "search.query",
    data: {
      query: "sandbox",
      timestamp: expect.any(Number),
      filter: { locations: [] },
      results: { total: expect.any(Number) },
      external_id: "patient-7",
    },
  });
});

test("a reconnect skips the search and keeps the connection ID", async ({ page, run, host }) => {
  await visit(page, run, host, { attributes: { "search-only": "" } });
  const first = new Patient(page);
  await first.open();
  await first.connect();
  const success = (await heard(page)).find((one) => one.event_type === "patient.connection_success");
  const id = success?.event_type === "patient.connection_success" ? success.data.org_connection_id : "";

  await visit(page, run, host, { attributes: { "reconnect-org-connection-id": id } });
  const patient = new Patient(page);
  await patient.open();
  const portal = await patient.leave();
  await portal.signInAndAllow();
  await patient.sees("success_title");
  const [pending, renewed] = await heard(page);
  expect(pending).toMatchObject({ event_type: "patient.connection_pending", data: { org_connection_id: id } });
  expect(renewed).toMatchObject({
    event_type: "patient.connection_success",
    data: { org_connection_id: id, connection_status: "authorized" },
  });
});
