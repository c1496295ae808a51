/** Tests network loss. Tests that the patient always has a next step when the network fails. */
import type { BrowserContext } from "@playwright/test";
import { heardTypes, visit } from "../support/customer.ts";
import { mailedCode, newEmail, Patient } from "../support/patient.ts";
import { withoutRedirects } from "../support/redirects.ts";
import type { Run } from "../support/run.ts";
import { expect, test } from "../support/test.ts";

const attributes = { "search-only": "" };

/** Makes the first request of each kind fail. Returns a function that returns the kinds without a failed request. */
async function lose(context: BrowserContext, ...kinds: RegExp[]): Promise<() => RegExp[]> {
  const left = new Set(kinds);
  for (const kind of kinds) {
    await context.route(kind, async (route) => {
      if (route.request().method() === "OPTIONS" || !left.delete(kind)) return route.fallback();
      await route.abort("connectionfailed");
    });
  }
  return () => [...left];
}

/** The requests of a journey after the frame's page has loaded. */
const REQUESTS = [
  /\/bridge\/email\/codes/,
  /\/bridge\/email\/verification/,
  /\/bridge\/catalog\/search/,
  /\/bridge\/attempts\?/,
  /\/bridge\/attempts\//,
  /\/bridge\/connect$/,
  /\/bridge\/callback/,
];

/** Confirms an email address, using the buttons that the page offers. */
async function proveEmail(patient: Patient, run: Run): Promise<void> {
  const email = newEmail();
  await patient.field("email").fill(email);
  await patient.press(() => patient.field("code").isVisible(), "email_send");
  await patient.field("code").fill(await mailedCode(run, email));
  await patient.press(() => patient.heading("search_title").isVisible(), "continue");
}

test("the journey survives the loss of each request", async ({ page, context, run, host }) => {
  await withoutRedirects(context);
  const lost = await lose(context, ...REQUESTS);
  const asked = new Set<string>();
  context.on(
    "request",
    (request) =>
      /\/v1\/bridge\//.test(request.url()) &&
      asked.add(new URL(request.url()).pathname + new URL(request.url()).search),
  );
  await visit(page, run, host);
  const patient = new Patient(page);
  await patient.open();
  await proveEmail(patient, run);
  await patient.find("Sandbox");
  const found = patient.where.getByRole("button", { name: "Sandbox Hospital" }).first();
  await patient.press(() => found.isVisible());
  await found.click();
  await patient.press(() => patient.button("go").isEnabled());
  const dead = await patient.leave(); // the window's start request is lost
  await dead.again();
  await dead.signInAndAllow();
  await dead.again();
  await patient.sees("success_title");
  expect(lost()).toEqual([]);
  expect(
    [...asked].filter((one) => !REQUESTS.some((kind) => kind.test(one))),
    "what is asked for and was not lost",
  ).toEqual([]);
});

test("the page works if its style sheet, translation and institution fail to load", async ({
  page,
  context,
  run,
  host,
}) => {
  const lost = await lose(
    context,
    /\/widget\/assets\/embed-\w+\.css/,
    /\/widget\/assets\/es-\w+\.js/,
    /\/bridge\/catalog\?/,
  );
  await visit(page, run, host, { attributes: { ...attributes, "brand-id": run.sandbox.brand_id } });
  const patient = new Patient(page);
  await patient.open();
  await patient.press(() => patient.button("go").isEnabled());
  await patient.button("language").click();
  await expect.poll(lost).toEqual([]);
  const portal = await patient.leave();
  await portal.signInAndAllow();
  await patient.sees("success_title"); // in the language whose words have loaded
});

for (const [name, open, sent, path] of [
  ["asking for help", "help", "support_sent_title", /\/support\/request/],
  ["asking for a missing hospital", "missing", "missing_sent_title", /\/support\/healthsystem/],
] as const) {
  test(`${name} keeps its input when its request is lost`, async ({ page, context, run, host }) => {
    const lost = await lose(context, path);
    await visit(page, run, host, { attributes: { ...attributes, email: newEmail() } });
    const patient = new Patient(page);
    await patient.open();
    await patient.button(open).click();
    for (const field of open === "help"
      ? (["support_name", "support_subject", "support_body"] as const)
      : (["missing_name"] as const)) {
      await patient.field(field).fill("Cedar Clinic");
    }
    await patient.button("send").click();
    await expect(patient.where.getByText(patient.lang.say("network_trouble"))).toBeVisible();
    await patient.press(() => patient.heading(sent).isVisible(), "send");
    expect(lost()).toEqual([]);
  });
}

for (const [name, path] of [
  ["page", /\/widget\/embed/],
  ["script", /\/widget\/assets\/embed-\w+\.js/],
] as const) {
  test(`the element shows an error after 15 seconds without the frame's ${name}, and the patient can retry`, async ({
    page,
    context,
    run,
    host,
  }) => {
    const lost = await lose(context, path);
    await page.clock.install();
    await visit(page, run, host, { attributes });
    const patient = new Patient(page);
    await patient.open();
    await expect.poll(lost).toEqual([]);
    await page.clock.runFor(16_000);
    await page.getByRole("dialog").getByRole("button", { name: "Try again" }).click();
    await page.clock.resume();
    await patient.sees("search_title");
  });
}

test("the widget shows that it is offline and continues when online", async ({ page, context, run, host }) => {
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.sees("search_title");
  await context.setOffline(true);
  await expect(patient.where.getByText(patient.lang.say("offline"))).toBeVisible();
  await patient.find("Sandbox");
  await context.setOffline(false);
  await expect(patient.where.getByText(patient.lang.say("offline"))).toBeHidden();
  await patient.connect();
});

test("a tab suspended for ten minutes shows the result when resumed", async ({ page, run, host }) => {
  await page.clock.install();
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.pick();
  const portal = await patient.leave();
  await page.clock.pauseAt(Date.now() + 5_000); // no timers run in the tab
  await portal.signInAndAllow();
  await expect(portal.page.getByRole("heading", { level: 1 })).toHaveText("You are connected");
  await page.clock.fastForward("10:00");
  await page.clock.resume();
  await patient.sees("success_title");
  expect(await heardTypes(page)).toEqual(["patient.connection_pending", "patient.connection_success"]);
});

test("an unfinished sign-in expires after 30 minutes and polling stops", async ({ page, run, host }) => {
  await page.clock.install();
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.pick();
  await patient.leave();
  await page.clock.fastForward("31:00");
  await patient.sees("expired_title");
  let asked = 0;
  page.on("request", (request) => (asked += /\/bridge\/attempts\//.test(request.url()) ? 1 : 0));
  await page.clock.fastForward("05:00");
  expect(asked).toBe(0);
  await patient.button("try_again").click();
  await expect(patient.button("go")).toBeEnabled();
});
