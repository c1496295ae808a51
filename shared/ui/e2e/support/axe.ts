/** axe-core in every frame of a page, each judged as a page of its own: the customer's, ours in its frame, or ours alone. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type axe from "axe-core";
import type { Frame, Page } from "@playwright/test";

/** The minified one, since every page and frame has to parse it. */
const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

async function inFrame(frame: Frame): Promise<string[]> {
  if (!(await frame.evaluate(() => "axe" in window))) await frame.evaluate(source);
  return frame.evaluate(async () => {
    const { axe: judge } = window as unknown as { axe: typeof axe };
    // What fades in has too little contrast until it is there. To wait for that may take forever: in a frame that has nothing else to paint it does not end.
    for (const one of document.getAnimations()) if (Number.isFinite(one.effect?.getComputedTiming().endTime)) one.finish();
    const { violations } = await judge.run(document, { iframes: false, resultTypes: ["violations"] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
  });
}

/** What axe-core finds, one text for each rule that is broken. */
export async function findings(page: Page): Promise<string[]> {
  const found = await Promise.all(page.frames().map(inFrame));
  return found.flat();
}
