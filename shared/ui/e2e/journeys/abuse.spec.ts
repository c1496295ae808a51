/** Hostile pages and portals (docs/develop/threats-sign-in.md). */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import { heardTypes, visit } from "../support/customer.ts";
import { Patient } from "../support/patient.ts";
import { customer, operate, operateBeside } from "../support/run.ts";
import type { Run } from "../support/run.ts";
import { expect, test } from "../support/test.ts";

const attributes = { "search-only": "" };

/** Creates a separate credential, so that the credential's origins don't affect other tests. */
function registered(run: Run, ...origins: string[]): string {
  const { org_id, redirect_uri } = customer(run);
  const words = origins.flatMap((origin) => ["-origin", origin]);
  const made = operate(
    "credential",
    "create",
    "-org",
    org_id,
    "-mode",
    "test",
    "-redirect",
    redirect_uri,
    ...words,
  ) as { public_id: string };
  return made.public_id;
}

test("the frame works on a registered origin", async ({ page, run, host }) => {
  const publicId = registered(run, host.origin("localhost"));
  await visit(page, run, host, { site: "localhost", attributes: { ...attributes, "public-id": publicId } });
  const patient = new Patient(page);
  await patient.open();
  await patient.connect();
});

for (const site of ["evil", "localhost.evil"]) {
  test(`${site} cannot embed the frame if other origins are registered`, async ({ page, run, host }) => {
    const publicId = registered(run, host.origin("localhost"));
    await visit(page, run, host, { site, attributes: { ...attributes, "public-id": publicId } });
    const patient = new Patient(page);
    const refused = page.waitForEvent("console", (message) => message.text().includes("frame-ancestors"));
    await patient.open();
    await refused;
    await expect(patient.heading("search_title")).toBeHidden();
  });
}

/** Returns the URL of the older element's window, with an attempt ID and token that another party knows. */
const others = (run: Run, publicId: string): string => {
  const known = new URLSearchParams({ attempt_id: crypto.randomUUID(), attempt_token: "A".repeat(43) });
  return `${run.base_url}/widget/connect?public_id=${publicId}#${known}`;
};

for (const site of ["", "evil", "localhost"]) {
  const from = site === "" ? "a link in an email" : `a page at ${site}`;
  test(`the older element's window ${site === "localhost" ? "accepts" : "rejects"} an attempt started by ${from}`, async ({
    page,
    run,
    host,
  }) => {
    const publicId = registered(run, host.origin("localhost"));
    const address = others(run, publicId);
    if (site === "") await page.goto(address);
    else {
      await page.goto(host.publish({ site, path: "/link", body: `<a href="${address}">Connect</a>` }));
      await page.getByRole("link").click();
    }
    const splash = page.getByRole("button", { name: /agree/i });
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    if (site === "localhost") await expect(splash).toBeVisible();
    else await expect(splash).toBeHidden();
  });
}

/** Returns a page that embeds the frame itself and can send any response to the frame's hello. */
const holder = (
  run: Run,
  publicId: string,
): string => `<iframe src="${run.base_url}/widget/embed?public_id=${publicId}" width="500" height="700"></iframe>
<script>
  addEventListener("message", ({ data, source }) => {
    if (data?.svc !== "hello") return;
    const channel = new MessageChannel();
    channel.port1.onmessage = ({ data }) => (window.said ??= []).push(data);
    const config = { publicId: "${publicId}", searchOnly: true, showSplash: false, tefcaMode: false, eventTypes: [] };
    source.postMessage({ svc: "init", v: 1, config }, "*", [channel.port2]);
  });
</script>`;

test("the frame sends nothing to an unregistered parent, even without its CSP", async ({ page, run, host }) => {
  const publicId = registered(run, host.origin("localhost"));
  await page.route(/\/widget\/embed/, async (route) => {
    const response = await route.fetch();
    const headers = response.headers();
    delete headers["content-security-policy"];
    await route.fulfill({ response, headers });
  });
  await page.goto(host.publish({ site: "evil", path: "/holder", body: holder(run, publicId) }));
  const frame = page.frameLocator("iframe");
  await expect(frame.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(frame.getByRole("searchbox").or(frame.getByRole("textbox"))).toBeHidden();
  const said = await page.evaluate(() => (window as unknown as { said?: { type: string }[] }).said ?? []);
  expect(said.filter((one) => one.type === "event")).toEqual([]);
});

test("forged messages are ignored", async ({ page, run, host }) => {
  await visit(page, run, host, { attributes });
  const patient = new Patient(page);
  await patient.open();
  await patient.sees("search_title");
  const forged = [
    { svc: "init", v: 1, config: { publicId: "public_test_x", searchOnly: false } },
    {
      type: "event",
      payload: { api_mode: "live", event_type: "patient.connection_success", data: { org_connection_id: "forged" } },
    },
    { type: "closed" },
    { svc: "hello", v: 1 },
    { svc: "nudge" },
    JSON.stringify({ event_type: "widget.complete" }),
  ];
  const evil = host.publish({
    site: "evil",
    path: "/forger",
    body: `<script>for (const one of ${JSON.stringify(forged)}) { parent.postMessage(one, "*"); parent.frames[0]?.postMessage(one, "*"); }</script>`,
  });
  await page.evaluate((messages) => {
    const { contentWindow } = document.querySelector("svc-widget-element")?.shadowRoot?.querySelector("iframe") ?? {};
    for (const message of messages) {
      window.postMessage(message, "*");
      contentWindow?.postMessage(message, "*");
    }
  }, forged);
  await page.evaluate((address) => {
    const frame = document.createElement("iframe");
    frame.src = address;
    document.body.append(frame);
    return new Promise((resolve) => frame.addEventListener("load", resolve));
  }, evil);
  await patient.sees("search_title");
  expect(await heardTypes(page)).toEqual([]);
  await patient.connect();
});

/** Creates an attempt as a page would, and returns the response. */
async function attempt(
  run: Run,
  publicId = customer(run).public_id,
): Promise<{ attempt_id: string; attempt_token: string; connect_url: string; start_value: string }> {
  const response = await fetch(`${run.base_url}/bridge/attempts?public_id=${publicId}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ endpoint_id: run.sandbox.endpoint_id }),
  });
  return (
    (await response.json()) as {
      data: { attempt_id: string; attempt_token: string; connect_url: string; start_value: string };
    }
  ).data;
}

async function asked(page: Page, address: string, token: string): Promise<number> {
  return page.evaluate(
    async ([url, bearer]) => (await fetch(url, { headers: { authorization: `Bearer ${bearer}` } })).status,
    [address, token] as const,
  );
}

test("an attempt ID without its token gives no access", async ({ page, run, host }) => {
  const [theirs, own] = [await attempt(run), await attempt(run)];
  const other = run.organisations.filter((one) => one.mode === "test")[1];
  await page.goto(host.publish({ site: "evil", path: "/asker", body: "" }));
  const address = (publicId: string): string =>
    `${run.base_url}/bridge/attempts/${theirs.attempt_id}?public_id=${publicId}`;
  expect(await asked(page, address(customer(run).public_id), own.attempt_token)).toBe(404);
  expect(await asked(page, address(other?.public_id ?? ""), theirs.attempt_token)).toBe(404);
  expect(await asked(page, address(customer(run).public_id), theirs.attempt_token)).toBe(200);
});

test("a link to an attempt's start cannot be opened", async ({ page, run, host }) => {
  const made = await attempt(run);
  const start = `${made.connect_url}?attempt=${made.start_value}`;
  await page.goto(
    host.publish({
      site: "evil",
      path: "/link",
      body: `<a href="${start}">Win</a><a href="${start}" target="_blank" rel="opener">Win too</a>`,
    }),
  );
  const opening = page.waitForEvent("popup");
  await page.getByRole("link", { name: "Win too" }).click();
  const popup = await opening;
  await expect(popup.getByText("be opened directly")).toBeVisible();
  await page.getByRole("link", { name: "Win", exact: true }).click();
  await expect(page.getByText("be opened directly")).toBeVisible();
});

test("consent pages cannot be framed for clickjacking", async ({ page, run, host }) => {
  const query = new URLSearchParams({ public_id: customer(run).public_id, redirect_uri: customer(run).redirect_uri });
  const addresses = [
    `${run.base_url}/widget/connect?${query}`,
    `${run.base_url}/bridge/connect?${query}`,
    `${run.base_url}/bridge/connect?${query}&endpoint_id=${run.sandbox.endpoint_id}`,
    `${run.base_url}/bridge/callback?state=x&error=access_denied`,
    (await attempt(run)).connect_url,
    `${run.base_url}/widget/embed?public_id=${registered(run, host.origin("localhost"))}`,
  ];
  for (const [i, address] of addresses.entries()) {
    const refused = page.waitForEvent("console", (message) => /frame-ancestors|X-Frame-Options/i.test(message.text()));
    await page.goto(
      host.publish({
        site: "evil",
        path: `/frame${i}`,
        body: `<iframe src="${address.replace(/&/g, "&amp;")}"></iframe>`,
      }),
    );
    await refused;
  }
});

test("a portal whose discovery points to our connect URL is rejected", async ({ page, run, host }) => {
  let isKnown = false; // discovery returns 404 while the endpoint is created
  const portal = createServer((request, response) => {
    if (!isKnown || !request.url?.endsWith("/.well-known/smart-configuration"))
      return void response.writeHead(404).end();
    const base = `http://${request.headers.host ?? ""}`;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({
        issuer: `${base}/fhir`,
        authorization_endpoint: `${run.base_url}/bridge/connect?public_id=${customer(run).public_id}&endpoint_id=${run.sandbox.endpoint_id}`,
        token_endpoint: `${base}/token`,
        code_challenge_methods_supported: ["S256"],
        capabilities: ["launch-standalone", "client-public"],
      }),
    );
  });
  await new Promise<void>((resolve) => portal.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(portal.address() as AddressInfo).port}/fhir`;
  const words = [
    "-fhir-base",
    address,
    "-mode",
    "test",
    "-name",
    "Nettle Clinic",
    "-client-id",
    "ours",
    "-scope",
    "patient/*.rs",
    "-unpinned",
  ];
  const made = (await operateBeside("endpoint", "create", ...words)) as { endpoint_id: string };
  isKnown = true;
  operate("catalog", "publish", "-yes", "-mode", "test");
  await visit(page, run, host, { attributes: { ...attributes, "endpoint-id": made.endpoint_id } });
  const patient = new Patient(page);
  await patient.open();
  await expect(patient.heading("unready_title").or(patient.heading("unanswered_title"))).toBeVisible();
  expect(page.context().pages()).toHaveLength(1);
  await new Promise((resolve) => portal.close(resolve));
});
