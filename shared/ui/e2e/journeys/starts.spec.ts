/**
 * Tests that a victim's click can't start an attempt that an attacker created elsewhere
 * (docs/develop/threats-sign-in.md, "Start values"). An organisation's URLs can't point to the service's host; in these tests they do, as if such a URL
 * had been stored anyway. Everything else is real: the browser decides which requests it sends.
 */
import type { Locator, Page } from "@playwright/test";
import { visit } from "../support/customer.ts";
import type { Host } from "../support/host.ts";
import { Patient } from "../support/patient.ts";
import { customer } from "../support/run.ts";
import type { Run } from "../support/run.ts";
import { expect, test } from "../support/test.ts";

/** The attacker's own attempt, either at a portal or in TEFCA mode. */
interface Made {
  attempt_id: string;
  attempt_token: string;
  url: string;
  start_value: string;
}

type Kind = "connect" | "tefca";

const KINDS: Record<Kind, { path: string; body: (run: Run) => object; state: string }> = {
  connect: {
    path: "/bridge/attempts",
    body: (run) => ({ endpoint_id: run.sandbox.endpoint_id, external_id: "the attacker's" }),
    state: "/bridge/attempts",
  },
  tefca: {
    path: "/bridge/tefca/identity",
    body: () => ({ provider: "simulated", external_id: "the attacker's" }),
    state: "/bridge/tefca/records",
  },
};

async function make(run: Run, kind: Kind): Promise<Made> {
  const { path, body } = KINDS[kind];
  const response = await fetch(`${run.base_url}${path}?public_id=${customer(run).public_id}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body(run)),
  });
  const { data } = (await response.json()) as { data: Made & { connect_url?: string; identity_url?: string } };
  return { ...data, url: data.connect_url ?? data.identity_url ?? "" };
}

/**
 * Returns the start URL with all values that the attacker has: under the form's field name, and under the name that
 * earlier releases used.
 */
const linkTo = ({ url, start_value: value }: Made): string =>
  `${url}?${new URLSearchParams({ attempt: value, start_value: value })}`;

async function isRefused(page: Page): Promise<void> {
  await expect(page.getByText("be opened directly")).toBeVisible();
}

/** Asserts that the attempt was neither started nor used up. */
async function isUntouched(run: Run, kind: Kind, made: Made): Promise<void> {
  const url = `${run.base_url}${KINDS[kind].state}/${made.attempt_id}?public_id=${customer(run).public_id}`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${made.attempt_token}` } });
  expect(((await response.json()) as { data: { status: string } }).data.status).toBe("created");
}

/** Changes an organisation's link on the widget's page to the most dangerous URL and rel that the link could have. */
async function poison(link: Locator, made: Made): Promise<void> {
  await link.evaluate((a, href) => {
    a.setAttribute("href", href);
    a.setAttribute("rel", "opener");
  }, linkTo(made));
}

async function followsLink(page: Page, link: Locator): Promise<void> {
  const opening = page.context().waitForEvent("page");
  await link.click();
  await isRefused(await opening);
}

const policy = (patient: Patient): Locator =>
  patient.where.getByRole("link", { name: patient.lang.say("privacy") }).first();

/** Opens the hosted page in redirect mode. */
async function toHostedPage(page: Page, run: Run): Promise<Patient> {
  const { public_id, redirect_uri } = customer(run);
  await page.goto(`${run.base_url}/widget/connect?${new URLSearchParams({ public_id, redirect_uri })}`);
  return new Patient(page, page);
}

/** Opens the older element's window. */
async function toWindow(page: Page, run: Run, host: Host): Promise<{ window: Page; patient: Patient }> {
  await visit(page, run, host, { tag: "svc-widget", attributes: { "connect-mode": "popup" } });
  const opening = page.context().waitForEvent("page");
  await page.locator("svc-widget").getByRole("button").click();
  const window = await opening;
  return { window, patient: new Patient(window, window) };
}

for (const kind of ["connect", "tefca"] as const) {
  test(`redirect mode: redirecting to a ${kind} attempt's start URL starts nothing`, async ({ page, run }) => {
    const made = await make(run, kind);
    await page.route(/\/bridge\/(connect|reconnect)\?/, (route) =>
      route.request().url().includes("attempt=")
        ? route.fallback()
        : route.fulfill({ status: 302, headers: { location: linkTo(made) } }),
    );
    const { public_id, redirect_uri } = customer(run);
    const query = new URLSearchParams({ public_id, redirect_uri, reconnect_org_connection_id: crypto.randomUUID() });
    await page.goto(`${run.base_url}/widget/connect?${query}`);
    await new Patient(page, page).button("go").click(); // the attack's only click
    await isRefused(page);
    await isUntouched(run, kind, made);
  });

  test(`redirect mode: an organisation's link to a ${kind} attempt's start URL starts nothing`, async ({
    page,
    run,
  }) => {
    const made = await make(run, kind);
    const patient = await toHostedPage(page, run);
    await poison(policy(patient), made);
    await followsLink(page, policy(patient));
    await isUntouched(run, kind, made);
  });

  test(`widget: an organisation's link to a ${kind} attempt's start URL starts nothing`, async ({
    page,
    run,
    host,
  }) => {
    const made = await make(run, kind);
    await visit(page, run, host, { attributes: { "show-splash": "" } });
    const patient = new Patient(page);
    await patient.open();
    await poison(policy(patient), made);
    await followsLink(page, policy(patient));
    await isUntouched(run, kind, made);
  });

  test(`popup mode: an organisation's link to a ${kind} attempt's start URL starts nothing`, async ({
    page,
    run,
    host,
  }) => {
    const made = await make(run, kind);
    const { window, patient } = await toWindow(page, run, host);
    await poison(policy(patient), made);
    await followsLink(window, policy(patient));
    await isUntouched(run, kind, made);
  });

  test(`TEFCA mode: an organisation's link to a ${kind} attempt's start URL starts nothing`, async ({
    page,
    run,
    host,
  }) => {
    const made = await make(run, kind);
    await visit(page, run, host, { attributes: { "tefca-mode": "" } });
    const patient = new Patient(page);
    await patient.open();
    await poison(policy(patient), made);
    await followsLink(page, policy(patient));
    await isUntouched(run, kind, made);
  });

  test(`another site's form with a ${kind} attempt's start value starts nothing in any window`, async ({
    page,
    run,
    host,
  }) => {
    const made = await make(run, kind);
    const form = (target: string): string =>
      `<form method="post" action="${made.url}" target="${target}"><input type="hidden" name="start_value" value="${made.start_value}"><button>${target}</button></form>`;
    const frame = `<iframe name="ours" src="${run.base_url}/widget/embed?public_id=${customer(run).public_id}"></iframe>`;
    await page.goto(
      host.publish({
        site: "evil",
        path: `/form-${kind}`,
        body: form("_self") + form("_blank") + form("ours") + frame,
      }),
    );
    const opening = page.waitForEvent("popup");
    await page.getByRole("button", { name: "_blank" }).click();
    await isRefused(await opening);
    const framed = page.waitForEvent("console", (message) => /frame-ancestors|X-Frame-Options/i.test(message.text()));
    await page.getByRole("button", { name: "ours" }).click();
    await framed;
    await page.getByRole("button", { name: "_self" }).click();
    await isRefused(page);
    await isUntouched(run, kind, made);
  });
}

test("another site's form that our server redirects to a start URL starts nothing", async ({ page, run, host }) => {
  const made = await make(run, "connect");
  await page.route(/\/widget\/connect/, (route) => route.fulfill({ status: 307, headers: { location: made.url } }));
  const field = `<input type="hidden" name="start_value" value="${made.start_value}">`;
  await page.goto(
    host.publish({
      site: "evil",
      path: "/through",
      body: `<form method="post" action="${run.base_url}/widget/connect">${field}<button>Win</button></form>`,
    }),
  );
  await page.getByRole("button").click();
  await isRefused(page);
  await isUntouched(run, "connect", made);
});

test("no URL contains the start value, and the portal receives no referrer", async ({ page, context, run, host }) => {
  const addresses: string[] = [];
  let value = "";
  context.on("request", (request) => addresses.push(request.url(), request.headers()["referer"] ?? ""));
  page.on("response", async (response) => {
    if (!/\/bridge\/attempts\?/.test(response.url()) || response.request().method() !== "POST") return;
    value = ((await response.json()) as { data: Made }).data.start_value;
  });
  await visit(page, run, host, { attributes: { "search-only": "" } });
  const patient = new Patient(page);
  await patient.open();
  await patient.pick();
  const portal = await patient.leave();
  await portal.signIn();
  expect(value).toMatch(/^[\w-]{43}$/);
  expect(addresses.filter((one) => one.includes(value))).toEqual([]);
  expect(await portal.page.evaluate(() => [document.referrer, history.length])).toEqual(["", expect.any(Number)]);
  await portal.allow();
  await patient.sees("success_title");
});

/**
 * Posts the hidden form from one of the widget's own pages, which an attacker can't do. This test shows that the
 * preceding tests don't pass merely because every start fails.
 */
test("the hosted page starts the attempt that the widget created", async ({ page, run }) => {
  for (const kind of ["connect", "tefca"] as const) {
    const made = await make(run, kind);
    await toHostedPage(page, run);
    await page.evaluate(({ url, start_value }) => {
      const form = Object.assign(document.createElement("form"), { method: "post", action: url });
      form.append(Object.assign(document.createElement("input"), { name: "start_value", value: start_value }));
      document.body.append(form);
      form.submit();
    }, made);
    await page.waitForURL(/\/sandbox\//);
  }
});
