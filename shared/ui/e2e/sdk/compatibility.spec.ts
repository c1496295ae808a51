/** Third-party eventBus handlers for the same contract (docs/reference/compatibility.md). */
import { CONNECTED, expect, played, PUBLIC_ID, say, test } from "./stage.ts";

const element = `<svc-widget-element public-id="${PUBLIC_ID}"></svc-widget-element>`;

/** The recipe of docs/reference/compatibility.md: a second event under the page's own name, with JSON text as detail. */
const recipe = `<script>
  const widget = document.querySelector("svc-widget-element");
  widget.addEventListener("eventBus", ({ detail }) => widget.dispatchEvent(new CustomEvent("eventBusText", { detail: JSON.stringify(detail) })));
</script>`;

/** Accepts only text, like one published handler. */
const strings = `<script>
  window.taken = [];
  for (const name of ["eventBus", "eventBusText"]) document.querySelector("svc-widget-element").addEventListener(name, ({ detail }) => typeof detail === "string" && taken.push(JSON.parse(detail)));
</script>`;

/** Accepts either form, like most published handlers. Two events for one fact would count twice. */
const either = `<script>
  window.counted = [];
  document.querySelector("svc-widget-element").addEventListener("eventBus", ({ detail }) => counted.push((typeof detail === "string" ? JSON.parse(detail) : detail).event_type));
</script>`;

test("eventBus delivers each event once to a handler that accepts objects and text", async ({ visit }) => {
  const page = await visit(element + either);
  await page.getByRole("button", { name: "Share Records" }).click();
  const frame = await played(page);
  await say(frame, { type: "event", payload: CONNECTED }, { type: "closed" });
  await expect(page.getByRole("dialog")).toBeHidden();
  expect(await page.evaluate(() => (self as unknown as { counted: string[] }).counted)).toEqual([
    "patient.connection_success",
    "widget.complete",
    "widget.close",
  ]);
});

test("a handler that accepts only text receives events through the documented listener", async ({ visit }) => {
  const page = await visit(element + strings + recipe);
  await page.getByRole("button", { name: "Share Records" }).click();
  const frame = await played(page);
  await say(frame, { type: "event", payload: CONNECTED }, { type: "closed" });
  await expect(page.getByRole("dialog")).toBeHidden();
  expect(await page.evaluate(() => (self as unknown as { taken: unknown[] }).taken)).toMatchObject([
    CONNECTED,
    { event_type: "widget.complete" },
    { event_type: "widget.close" },
  ]);
});

test("widget.close is always the last event", async ({ visit }) => {
  const page = await visit(
    `${element}<script>window.closed_ = []; document.addEventListener("eventBus", ({ detail }) => closed_.push(detail.event_type));</script>`,
  );
  for (const close of [
    () => page.keyboard.press("Escape"),
    () => page.locator("svc-widget-element").evaluate((widget: HTMLElement & { hide(): void }) => widget.hide()),
  ]) {
    await page.getByRole("button", { name: "Share Records" }).click();
    const frame = await played(page);
    await say(frame, { type: "ready" });
    await close();
    await say(frame, { type: "closed" }).catch(() => undefined); // hide() has removed the frame
    await expect(page.getByRole("dialog")).toBeHidden();
    const types = await page.evaluate(() => (self as unknown as { closed_: string[] }).closed_.splice(0));
    expect(types).toEqual(["widget.complete", "widget.close"]);
  }
});
