/** Short journeys in Firefox and WebKit. The service uses plain HTTP, as started by make run. */
import type { Payload } from "../../kit/protocol.ts";
import { expect, test as base } from "../support/test.ts";
import { Browser } from "./browser.ts";
import { firefox } from "./firefox.ts";
import { Patient } from "./patient.ts";
import { webkit } from "./webkit.ts";

const ENGINES: Record<string, typeof firefox> = { firefox, webkit };

/** The engine of the Playwright project. */
const engineOf = (project: string): typeof firefox => ENGINES[project] ?? firefox;

const test = base.extend<object, { browserOf: Browser }>({
  browserOf: [
    async ({}, use, { project }) => {
      const browser = await Browser.start(engineOf(project.name));
      await use(browser);
      await browser.stop();
    },
    { scope: "worker" },
  ],
});

/** Each journey uses the previous journey's connection. */
test.describe.configure({ mode: "serial" });

const types = (heard: Payload[]): string[] => heard.map((one) => one.event_type);
let connection = "";

test("a patient connects", async ({ browserOf, run, host }) => {
  const patient = new Patient(browserOf, run);
  await patient.open(host, {});
  await patient.proveEmail();
  await patient.pick();
  await patient.leave();
  await patient.allow();
  await patient.goBack();
  await patient.sees("success_title");
  const heard = await patient.hears(2);
  expect(types(heard)).toEqual(["patient.connection_pending", "patient.connection_success"]);
  for (const one of heard) if (one.event_type === "patient.connection_success") connection = one.data.org_connection_id;
});

test("a patient reconnects", async ({ browserOf, run, host }) => {
  const patient = new Patient(browserOf, run);
  await patient.open(host, { "reconnect-org-connection-id": connection });
  await patient.leave();
  await patient.allow();
  await patient.goBack();
  await patient.sees("success_title");
  expect(await patient.hears(2)).toMatchObject([
    { event_type: "patient.connection_pending", data: { org_connection_id: connection } },
    { event_type: "patient.connection_success", data: { org_connection_id: connection } },
  ]);
});

test("a patient cancels and can choose again", async ({ browserOf, run, host }) => {
  const patient = new Patient(browserOf, run);
  await patient.open(host, { "search-only": "" });
  await patient.pick();
  await patient.leave();
  await patient.closeWindow();
  await patient.goBack();
  await patient.sees("waiting_title");
  await patient.cancel();
  await patient.sees("institution_title");
});

test("a page whose CSP blocks the frame receives widget.load_error", async ({ browserOf, run, host }) => {
  const patient = new Patient(browserOf, run);
  const headers = { "content-security-policy": "frame-src 'none'" };
  await patient.click(host, { attributes: { "event-types": "widget.load_error" }, headers });
  expect(await patient.hears(1)).toEqual([
    { api_mode: "test", event_type: "widget.load_error", data: { reason: "blocked" } },
  ]);
});

test("the page receives an error when the patient closes the older element's window", async ({
  browserOf,
  run,
  host,
}) => {
  const patient = new Patient(browserOf, run);
  await patient.follow(() => patient.click(host, { tag: "svc-widget", attributes: { "connect-mode": "popup" } }));
  await patient.sees("splash_title");
  await patient.closeWindow();
  expect(await patient.hears(1)).toMatchObject([
    { error: "svc_invalid_request", error_description: "The patient closed the window." },
  ]);
});

/** The window shows instructions instead of continuing to the portal. */
test("a patient who blocks cookies sees instructions", async ({ run, host }, { project }) => {
  const browser = await Browser.start(engineOf(project.name), { blocksCookies: true });
  try {
    const patient = new Patient(browser, run);
    await patient.open(host, { "search-only": "" });
    await patient.pick();
    await patient.leave();
    if (!/cookies/i.test(await patient.reads(/cookies|Who are you today/i))) await patient.allow();
    await patient.reads(/cookies/i);
  } finally {
    await browser.stop();
  }
});
