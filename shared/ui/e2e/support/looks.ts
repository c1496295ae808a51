/** Checks a view's appearance: on phone, tablet and desktop; in light, dark and forced colours; at 400 % zoom and with 32 px text. */
import type { Frame, Page } from "@playwright/test";
import { expect } from "@playwright/test";
import { join } from "node:path";
import { findings } from "./axe.ts";
import { repository } from "./run.ts";

const screens = process.env["RECORDBRIDGE_UI_SCREENS"] ?? join(repository, "build/ui-screens");

/**
 * In brief mode, each device and each colour scheme is checked once and no picture is kept. Brief mode is sufficient
 * for continuous integration.
 */
export const isBrief = process.env["RECORDBRIDGE_LOOKS"] === "brief";

const DEVICES = {
  phone: { width: 360, height: 640 },
  tablet: { width: 768, height: 1024 },
  desktop: { width: 1280, height: 860 },
} as const;

/** The viewport of 1280 × 1024 px at 400 % zoom (WCAG 1.4.10). */
const ENLARGED = { width: 320, height: 256 };

/**
 * Runs in a page. Returns text that overflows its element, and pages that overflow their viewport. Input values may
 * overflow, and code may scroll.
 */
function cutOff(): string[] {
  const { scrollWidth } = document.documentElement;
  const page = scrollWidth > innerWidth ? [`the page: ${scrollWidth} of ${innerWidth} px`] : [];
  const words = [
    ...document.body.querySelectorAll<HTMLElement>("*:not(.hidden, input, textarea, select, option, pre)"),
  ].filter((one) => one.childElementCount === 0);
  const cut = words.filter((one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1);
  return [...page, ...cut.map((one) => one.outerHTML)];
}

/** Runs in a page. Sets the size from which the page's text and spacing derive. */
const resize = (size: string): void => void (document.documentElement.style.fontSize = size);

/** Runs in a page with forced colours. Returns elements that have no border. */
function edgeless(): string[] {
  const all = [
    ...document.querySelectorAll<HTMLElement>(".button, input:not([type=checkbox]), select, textarea, .notice"),
  ];
  return all.filter((one) => getComputedStyle(one).borderTopWidth === "0px").map((one) => one.outerHTML);
}

/** Runs in a page. Counts running animations. */
const moving = (): number =>
  document.getAnimations().filter((one) => Number(one.effect?.getComputedTiming().duration) > 1).length;

/** Returns the widget's page, either in a frame or as the main page. */
function ours(page: Page): Frame {
  return page.frames().find((one) => one.url().includes("/widget/embed")) ?? page.mainFrame();
}

interface Form {
  size: { width: number; height: number };
  media: { colorScheme: "light" | "dark"; reducedMotion: "reduce"; forcedColors: "none" | "active" };
}

/** Sets the page's size and media features. A frame in another process is updated later than its page. */
async function dress(page: Page, { size, media }: Form): Promise<void> {
  await page.setViewportSize(size);
  await page.emulateMedia(media);
  const width = await page.evaluate(
    () => document.querySelector("svc-widget-element")?.shadowRoot?.querySelector("iframe")?.clientWidth ?? innerWidth,
  );
  const wanted = { width, dark: media.colorScheme === "dark", forced: media.forcedColors === "active" };
  await ours(page).waitForFunction(
    ({ width, dark, forced }) =>
      innerWidth === width &&
      matchMedia("(prefers-color-scheme: dark)").matches === dark &&
      matchMedia("(forced-colors: active)").matches === forced,
    wanted,
  );
  await Promise.all([page.evaluate(painted), ours(page).evaluate(painted)]);
}

/** Runs in a page. Waits for two painted frames, because the first frame may still be outdated. */
const painted = (): Promise<void> =>
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));

async function keep(page: Page, name: string): Promise<void> {
  if (isBrief) {
    return;
  }
  const fullPage = !page.url().includes("/widget/") && page.frames().length === 1; // a frame's content can't exceed its window
  await page.screenshot({ path: join(screens, `${name}.png`), animations: "disabled", fullPage });
}

/** Checks a patient's view at the browser's largest font size. */
async function enlarge(page: Page, name: string, lang: string): Promise<void> {
  await dress(page, {
    size: DEVICES.phone,
    media: { colorScheme: "light", reducedMotion: "reduce", forcedColors: "none" },
  });
  await ours(page).evaluate(resize, "32px");
  await ours(page).evaluate(painted);
  await keep(page, `${name}-large-text-${lang}`);
  expect.soft(await ours(page).evaluate(cutOff), `${name}-large-text-${lang} is whole`).toEqual([]);
  await ours(page).evaluate(resize, "");
}

/** Checks the current view in every form factor, and keeps pictures under the given name. */
export async function look(page: Page, name: string, lang: string): Promise<void> {
  for (const [device, size] of Object.entries(DEVICES)) {
    for (const colorScheme of ["light", "dark"] as const) {
      if (isBrief && (device === "tablet" || (device === "phone") !== (colorScheme === "dark"))) {
        continue;
      }
      const form = `${name}-${device}-${colorScheme}-${lang}`;
      await dress(page, { size, media: { colorScheme, reducedMotion: "reduce", forcedColors: "none" } });
      await keep(page, form);
      expect.soft(await findings(page), form).toEqual([]);
      expect.soft(await ours(page).evaluate(cutOff), `${form} is whole`).toEqual([]);
    }
  }
  for (const [device, size] of isBrief ? [] : Object.entries(DEVICES)) {
    await dress(page, { size, media: { colorScheme: "light", reducedMotion: "reduce", forcedColors: "active" } });
    await keep(page, `${name}-${device}-forced-${lang}`);
  }
  if (!/\/(dashboard|demo)\b/.test(page.url())) await enlarge(page, name, lang);
  const form = `${name}-enlarged-forced-${lang}`;
  const enlarged: Form = {
    size: ENLARGED,
    media: { colorScheme: "light", reducedMotion: "reduce", forcedColors: "active" },
  };
  await dress(page, enlarged);
  await keep(page, form);
  expect.soft(await ours(page).evaluate(cutOff), `${form} is whole`).toEqual([]);
  expect.soft(await ours(page).evaluate(edgeless), `${form} has edges`).toEqual([]);
  expect.soft(await ours(page).evaluate(moving), `${form} stands still`).toBe(0);
  await dress(page, { ...enlarged, media: { ...enlarged.media, forcedColors: "none" } });
  await page.screenshot(); // waits for composition: before that, the page around a frame receives clicks on the frame
}

/** Returns the number of animations that run if reduced motion is off. */
export async function motion(page: Page): Promise<number> {
  await page.emulateMedia({ reducedMotion: "no-preference" });
  return ours(page).evaluate(moving);
}
