/** The components of react.js in StrictMode, which mounts everything twice. */
import * as esbuild from "esbuild";
import { mkdtempSync, rmSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CONNECTED, expect, init, played, PUBLIC_ID, say, test } from "./stage.ts";
import { repository } from "../support/run.ts";

const workspace = join(repository, "shared/ui");

const application = `
  import { createElement as h, StrictMode, useRef, useState } from "react";
  import { createRoot } from "react-dom/client";
  import { SvcWidgetElement } from "PACKAGE/react.js";
  self.calls = [];
  function Page() {
    const [step, setStep] = useState(0);
    const widget = useRef(null);
    return h("main", null,
      h("button", { onClick: () => setStep(step + 1) }, "step " + step),
      h("button", { onClick: () => widget.current.show() }, "show"),
      step < 2 && h(SvcWidgetElement, { ref: widget, className: "mine", style: { color: "red" }, publicId: "${PUBLIC_ID}", searchOnly: step === 0, showSplash: true, externalId: undefined,
        baseUrl: BASE, onEventBus: ({ detail }) => calls.push([step, detail.event_type]), onClick: () => calls.push(["click"]) }, "Share"));
  }
  createRoot(document.body.appendChild(document.createElement("div"))).render(h(StrictMode, null, h(Page)));`;

let bundle = "";

test.beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "ui-react-"));
  try {
    execFileSync(process.execPath, [
      join(workspace, "sdk/pack.mjs"),
      join(repository, "build/ui"),
      join(folder, "svc-widget"),
    ]);
    const { outputFiles } = await esbuild.build({
      stdin: { contents: application.replace("PACKAGE", join(folder, "svc-widget")), resolveDir: workspace },
      bundle: true,
      write: false,
      format: "esm",
      nodePaths: [join(workspace, "node_modules")],
      logLevel: "error",
    });
    bundle = outputFiles[0]?.text ?? "";
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the React component sets attributes, calls the latest listener and exposes methods", async ({
  page,
  host,
  service,
}) => {
  const errors: string[] = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.goto(
    host.publish({
      body: `<script>BASE = "${service.base}"</script><script type="module">${bundle.replaceAll("</script", "<\\/script")}</script>`,
    }),
  );
  const element = page.locator("svc-widget-element");
  await expect(element).toHaveAttribute("search-only", "");
  expect(await element.evaluate((widget) => [widget.getAttributeNames().sort(), widget.className])).toEqual([
    ["base-url", "class", "public-id", "search-only", "show-splash", "style"],
    "mine",
  ]);
  await page.getByRole("button", { name: "step 0" }).click();
  await expect(element).not.toHaveAttribute("search-only");
  await page.getByRole("button", { name: "show" }).click();
  const frame = await played(page);
  expect((await init(frame)).config).toMatchObject({ showSplash: true, searchOnly: false });
  await say(frame, { type: "event", payload: CONNECTED });
  const calls = (): Promise<unknown[]> => page.evaluate(() => (self as unknown as { calls: unknown[] }).calls);
  await expect.poll(calls).toEqual([[1, "patient.connection_success"]]);
  await page.getByRole("button", { name: "step 1" }).evaluate((button: HTMLElement) => button.click());
  await expect.poll(() => page.frames()).toHaveLength(1);
  expect(errors).toEqual([]);
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).overflow)).toBe("visible");
  await expect.poll(calls).toEqual([
    [1, "patient.connection_success"],
    [1, "widget.complete"],
    [1, "widget.close"],
  ]);
});
