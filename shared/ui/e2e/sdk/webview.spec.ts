/**
 * The README's recipe for web views: the hosted page in a single window, with the bridge of react-native-webview. The
 * browser is Chromium with the user agent of Android's web view, which can't open windows.
 */
import type { Payload } from "../../kit/protocol.ts";
import { Patient, Portal } from "../support/patient.ts";
import { customer } from "../support/run.ts";
import { expect, test } from "../support/test.ts";

test.use({
  userAgent:
    "Mozilla/5.0 (Linux; Android 15; Pixel 9 Build/AP4A; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/156.0.0.0 Mobile Safari/537.36",
  viewport: { width: 412, height: 915 },
  isMobile: true,
  hasTouch: true,
});

test("a web view connects a patient in one window and receives the events and the result", async ({ page, run }) => {
  const posted: string[] = [];
  await page.exposeFunction("appHears", (text: string) => posted.push(text));
  await page.addInitScript(() => {
    const app = window as unknown as { appHears(text: string): void };
    Object.assign(window, { ReactNativeWebView: { postMessage: (text: string) => app.appHears(text) } });
    window.open = () => null;
  });
  const { public_id, redirect_uri } = customer(run);
  const query = new URLSearchParams({ public_id, redirect_uri, external_id: "patient-7", external_state: "visit-9" });
  await page.goto(`${run.base_url}/bridge/connect?${query}`);

  const patient = new Patient(page, page);
  await patient.arrive(run);
  await patient.pick();
  await patient.button("go").click();
  await new Portal(page).signInAndAllow();

  // In the recipe, onShouldStartLoadWithRequest stops here and reads the result.
  await page.waitForURL((url) => url.href.startsWith(redirect_uri));
  const result = new URL(page.url()).searchParams;
  expect(result.get("external_state")).toBe("visit-9");
  expect(result.get("org_connection_id")).not.toBeNull();
  expect(page.context().pages()).toHaveLength(1);
  const heard = posted.map((text) => JSON.parse(text) as Payload);
  expect(heard).toMatchObject([
    { api_mode: "test", event_type: "patient.connection_pending", data: { external_id: "patient-7" } },
  ]);
});
