/** Tests an organisation's look in the frame, the hosted page and the older element's window. */
import type { Frame, Page } from "@playwright/test";
import { visit } from "../support/customer.ts";
import { english, Patient, spanish } from "../support/patient.ts";
import { operate } from "../support/run.ts";
import type { Run } from "../support/run.ts";
import { expect, test } from "../support/test.ts";

const REDIRECT = "https://look.example/return";
const SHEETS = { light: "rgb(255, 255, 255)", dark: "rgb(26, 34, 41)" };

/**
 * Creates an organisation with a look, and returns its public ID. A new organisation is used, because changes to a look
 * take 30 seconds.
 */
function customerWith(...look: string[]): string {
  const { id } = operate("organisation", "create", "-name", "Juniper Health", ...look) as { id: string };
  return (operate("credential", "create", "-org", id, "-mode", "test", "-redirect", REDIRECT) as { public_id: string })
    .public_id;
}

interface Shown {
  font: string;
  sheet: string;
  corner: string;
  scheme: string;
}

/** Runs in the widget's page. */
function shown(): Shown {
  const of = (selector: string) => getComputedStyle(document.querySelector(selector) ?? document.documentElement);
  return {
    font: of("body").fontFamily,
    sheet: of("body").backgroundColor,
    corner: of(".bone, .button").borderRadius,
    scheme: of("html").colorScheme,
  };
}

/** Returns the widget's page after the page has painted. A test can block the page's script. */
async function painted(page: Page): Promise<Frame> {
  await expect(page.frameLocator("svc-widget-element iframe").getByText("Juniper Health").first()).toBeVisible();
  const frame = page.frames().find((one) => one.url().includes("/widget/embed"));
  if (frame === undefined) throw new Error("there is no frame");
  return frame;
}

for (const [scheme, device] of [
  ["dark", "light"],
  ["light", "dark"],
] as const) {
  test(`the first paint has the organisation's branding: ${scheme} on a ${device} device`, async ({
    page,
    run,
    host,
  }) => {
    const id = customerWith("-radius", "3", "-font", "Georgia, 'DejaVu Serif'", "-color-scheme", scheme);
    await page.emulateMedia({ colorScheme: device });
    await page.route(/\/widget\/assets\//, () => undefined); // requests without a response
    await visit(page, run, host, { attributes: { "public-id": id } });
    await new Patient(page).open();
    const frame = await painted(page);
    const { font, sheet, corner, scheme: used } = await frame.evaluate(shown);
    expect(font).toMatch(/^Georgia, "DejaVu Serif", system-ui/);
    expect([sheet, corner, used]).toEqual([SHEETS[scheme], "2px", scheme]);
  });
}

test("the loaded frame keeps the branding, its close button stays visible, and its consent pane quotes the purpose", async ({
  page,
  run,
  host,
}) => {
  const id = customerWith(
    "-radius",
    "24",
    "-font",
    "Georgia",
    "-color-scheme",
    "dark",
    "-purpose",
    "We plan your care & visits.",
    "-purpose-es",
    "Planificamos su atención.",
  );
  await page.emulateMedia({ colorScheme: "light" });
  await visit(page, run, host, { attributes: { "public-id": id, "search-only": "" } });
  const patient = new Patient(page);
  await patient.open();
  await patient.sees("search_title");
  const frame = await painted(page);
  expect(await frame.evaluate(shown)).toMatchObject({
    font: expect.stringMatching(/^Georgia, system-ui/),
    sheet: SHEETS.dark,
    scheme: "dark",
  });
  const disc = () => getComputedStyle(document.querySelector(".head") ?? document.body, "::after").backgroundColor;
  expect(await frame.evaluate(disc)).toBe("rgb(238, 242, 245)");
  await page.emulateMedia({ colorScheme: "dark" });
  await expect.poll(() => frame.evaluate(disc)).toBe("rgba(0, 0, 0, 0)");
  await patient.pick();
  await patient.where.getByText(english.say("consent_more")).click();
  const org = "Juniper Health";
  const purpose = (lang: typeof english, text: string) =>
    expect(patient.where.getByText(lang.say("consent_why_own", { org, purpose: text }), { exact: true })).toBeVisible();
  await purpose(english, "We plan your care & visits.");
  await patient.button("language").click();
  await purpose(spanish, "Planificamos su atención.");
  await expect(patient.where.getByText(spanish.say("consent_why_us", { org }), { exact: true })).toBeVisible();
  expect(await frame.evaluate(() => window.violations)).toEqual([]);
});

test("forced colours override a chosen colour scheme", async ({ page, run, host }) => {
  const id = customerWith("-color-scheme", "dark");
  await page.emulateMedia({ colorScheme: "light", forcedColors: "active" });
  await visit(page, run, host, { attributes: { "public-id": id } });
  await new Patient(page).open();
  const frame = await painted(page);
  expect(
    await frame.evaluate(() => {
      const probe = document.createElement("p");
      probe.style.setProperty("background-color", "Canvas");
      document.body.append(probe);
      return (
        getComputedStyle(probe).backgroundColor === getComputedStyle(document.body).backgroundColor &&
        getComputedStyle(document.documentElement).getPropertyValue("--sheet") === "Canvas"
      );
    }),
  ).toBe(true);
});

const address = (run: Run, id: string, more: Record<string, string>): string =>
  `${run.base_url}/widget/connect?${new URLSearchParams({ public_id: id, ...more })}`;

test("the hosted page and the older element's window have the organisation's branding", async ({ page, run }) => {
  const id = customerWith("-radius", "0", "-font", "Georgia, serif", "-color-scheme", "dark");
  await page.emulateMedia({ colorScheme: "light" });
  await page.route(/\/widget\/assets\//, () => undefined);
  for (const more of [{ redirect_uri: REDIRECT }, {}]) {
    await page.goto(address(run, id, more), { waitUntil: "commit" });
    await expect(page.getByText("Juniper Health").first()).toBeVisible();
    const { font, corner, scheme } = await page.evaluate(shown);
    expect(font).toMatch(/^Georgia, serif, system-ui/);
    expect([corner, scheme]).toEqual(["0px", "dark"]);
  }
});
