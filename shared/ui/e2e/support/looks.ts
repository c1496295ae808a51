/** How views are looked at: on phone and desktop, by day and by night, enlarged four times, with the browser's own colours. */
import type { Frame, Page } from "@playwright/test";
import { expect } from "@playwright/test";
import { join } from "node:path";
import { findings } from "./axe.ts";
import { repository } from "./run.ts";

const screens = process.env["RECORDBRIDGE_UI_SCREENS"] ?? join(repository, "build/ui-screens");

/** Whether each device and each scheme of colours is seen once, and no picture kept: what decides whether work lands needs no more. */
const isBrief = process.env["RECORDBRIDGE_LOOKS"] === "brief";

const DEVICES = { phone: { width: 375, height: 812 }, desktop: { width: 1280, height: 860 } } as const;

/** What 1280 × 1024 px enlarged four times leave (WCAG 1.4.10). */
const ENLARGED = { width: 320, height: 256 };

/** Runs in a page: words that leave their place, and pages that leave theirs. A field's own text may be longer than it, and code may be scrolled. */
function cutOff(): string[] {
  const { scrollWidth } = document.documentElement;
  const page = scrollWidth > innerWidth ? [`the page: ${scrollWidth} of ${innerWidth} px`] : [];
  const words = [...document.body.querySelectorAll<HTMLElement>("*:not(.hidden, input, textarea, select, option, pre)")].filter((one) => one.childElementCount === 0);
  const cut = words.filter((one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1);
  return [...page, ...cut.map((one) => one.outerHTML)];
}

/** Runs in a page whose colours are the browser's: what has no edge there, and cannot be told from text. */
function edgeless(): string[] {
  const all = [...document.querySelectorAll<HTMLElement>(".button, input:not([type=checkbox]), select, textarea, .notice")];
  return all.filter((one) => getComputedStyle(one).borderTopWidth === "0px").map((one) => one.outerHTML);
}

/** Runs in a page: what moves although it should not. */
const moving = (): number => document.getAnimations().filter((one) => Number(one.effect?.getComputedTiming().duration) > 1).length;

/** The page of ours that is shown: in a frame, or alone. */
function ours(page: Page): Frame {
  return page.frames().find((one) => one.url().includes("/widget/embed")) ?? page.mainFrame();
}

interface Form {
  size: { width: number; height: number };
  media: { colorScheme: "light" | "dark"; reducedMotion: "reduce"; forcedColors: "none" | "active" };
}

/** Gives the page a form. A frame in another process hears of it later than its page. */
async function dress(page: Page, { size, media }: Form): Promise<void> {
  await page.setViewportSize(size);
  await page.emulateMedia(media);
  const width = await page.evaluate(() => document.querySelector("svc-widget-element")?.shadowRoot?.querySelector("iframe")?.clientWidth ?? innerWidth);
  const wanted = { width, dark: media.colorScheme === "dark", forced: media.forcedColors === "active" };
  await ours(page).waitForFunction(
    ({ width, dark, forced }) => innerWidth === width && matchMedia("(prefers-color-scheme: dark)").matches === dark && matchMedia("(forced-colors: active)").matches === forced,
    wanted,
  );
  await Promise.all([page.evaluate(painted), ours(page).evaluate(painted)]);
}

/** Runs in a page: ends when two frames have been painted, the first of which may be that of before. */
const painted = (): Promise<void> => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));

async function keep(page: Page, name: string): Promise<void> {
  if (isBrief) {
    return;
  }
  const fullPage = !page.url().includes("/widget/") && page.frames().length === 1; // a frame has no more than its window
  await page.screenshot({ path: join(screens, `${name}.png`), animations: "disabled", fullPage });
}

/** Judges and keeps what is shown, as name; in every form that a patient may have it. */
export async function look(page: Page, name: string, lang: string): Promise<void> {
  for (const [device, size] of Object.entries(DEVICES)) {
    for (const colorScheme of ["light", "dark"] as const) {
      if (isBrief && (device === "phone") !== (colorScheme === "dark")) {
        continue;
      }
      const form = `${name}-${device}-${colorScheme}-${lang}`;
      await dress(page, { size, media: { colorScheme, reducedMotion: "reduce", forcedColors: "none" } });
      await keep(page, form);
      expect.soft(await findings(page), form).toEqual([]);
      expect.soft(await ours(page).evaluate(cutOff), `${form} is whole`).toEqual([]);
    }
  }
  const form = `${name}-enlarged-forced-${lang}`;
  const enlarged: Form = { size: ENLARGED, media: { colorScheme: "light", reducedMotion: "reduce", forcedColors: "active" } };
  await dress(page, enlarged);
  await keep(page, form);
  expect.soft(await ours(page).evaluate(cutOff), `${form} is whole`).toEqual([]);
  expect.soft(await ours(page).evaluate(edgeless), `${form} has edges`).toEqual([]);
  expect.soft(await ours(page).evaluate(moving), `${form} stands still`).toBe(0);
  await dress(page, { ...enlarged, media: { ...enlarged.media, forcedColors: "none" } });
  await page.screenshot(); // which waits for what is composed: until a frame is part of that, a click on it is lost to the page around it
}

/** How much moves for those who have not asked for less. */
export async function motion(page: Page): Promise<number> {
  await page.emulateMedia({ reducedMotion: "no-preference" });
  return ours(page).evaluate(moving);
}
