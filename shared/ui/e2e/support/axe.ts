/** Runs axe-core in every frame of a page and judges each frame as a separate page. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type axe from "axe-core";
import type { Frame, Page } from "@playwright/test";

/** The minified build, because every page and frame has to parse the script. */
const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

async function inFrame(frame: Frame): Promise<string[]> {
  if (!(await frame.evaluate(() => "axe" in window))) await frame.evaluate(source);
  return frame.evaluate(async () => {
    const { axe: judge } = window as unknown as { axe: typeof axe };
    // Elements that fade in lack contrast at first. Waiting for animations could hang: in a frame with nothing else to paint, animations never end.
    for (const one of document.getAnimations())
      if (Number.isFinite(one.effect?.getComputedTiming().endTime)) one.finish();
    const { violations } = await judge.run(document, { iframes: false, resultTypes: ["violations"] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
  });
}

/** Returns axe-core's findings, with one text for each violated rule. */
export async function findings(page: Page): Promise<string[]> {
  const found = await Promise.all(page.frames().map(inFrame));
  return found.flat();
}
