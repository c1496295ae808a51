/** A customer's page with the widget, and the events that the page receives. */
import type { Page } from "@playwright/test";
import type { Payload } from "../../kit/protocol.ts";
import type { Host, HostPage } from "./host.ts";
import { customer } from "./run.ts";
import type { Run } from "./run.ts";

export interface Placed extends Omit<HostPage, "body" | "html"> {
  tag?: "svc-widget-element" | "svc-widget";
  /** Attributes of the element in addition to public-id. A null value removes public-id. */
  attributes?: Record<string, string | null>;
  /** HTML that replaces the element, for example several elements. */
  elements?: string;
}

interface Heard {
  name: string;
  detail: unknown;
}

declare global {
  interface Window {
    heard: Heard[];
    violations: string[];
  }
}

/** Records the element's events and the page's policy violations from the start of the visit. */
function listen(): void {
  if (window.heard !== undefined) return; // the test visits the page twice
  window.heard = [];
  window.violations = [];
  for (const name of ["eventBus", "orgConnectionCallback"]) {
    document.addEventListener(name, (event) =>
      window.heard.push({ name, detail: event instanceof CustomEvent ? structuredClone(event.detail) : null }),
    );
  }
  document.addEventListener("securitypolicyviolation", (event) =>
    window.violations.push(`${event.violatedDirective} ${event.blockedURI}`),
  );
}

const escaped = (text: string): string => text.replace(/&/g, "&amp;").replace(/"/g, "&quot;");

export function markup(run: Run, { tag = "svc-widget-element", attributes = {} }: Placed): string {
  const all: Record<string, string | null> = { "public-id": customer(run).public_id, ...attributes };
  const written = Object.entries(all).flatMap(([name, value]) =>
    value === null ? [] : [`${name}="${escaped(value)}"`],
  );
  return `<${tag} ${written.join(" ")}></${tag}>`;
}

export const script = (run: Run): string => `<script type="module" src="${run.base_url}/sdk/4/svc-widget.js"></script>`;

/** Opens a customer's page with the element. */
export async function visit(page: Page, run: Run, host: Host, placed: Placed = {}): Promise<void> {
  await page.addInitScript(listen);
  const { elements = markup(run, placed), head = script(run), ...rest } = placed;
  await page.goto(
    host.publish({ ...rest, head, body: `<main aria-label="Alder Clinic"><h1>Alder Clinic</h1>${elements}</main>` }),
  );
  await page.waitForFunction((tag) => customElements.get(tag) !== undefined, placed.tag ?? "svc-widget-element");
}

/** Returns the eventBus events received so far. */
export const heard = (page: Page): Promise<Payload[]> =>
  page.evaluate(() => window.heard.filter((one) => one.name === "eventBus").map((one) => one.detail)) as Promise<
    Payload[]
  >;

export const heardTypes = async (page: Page): Promise<string[]> => (await heard(page)).map((one) => one.event_type);

/** Returns the orgConnectionCallback events received so far. */
export const callbacks = (page: Page): Promise<unknown[]> =>
  page.evaluate(() => window.heard.filter((one) => one.name === "orgConnectionCallback").map((one) => one.detail));

export const violations = (page: Page): Promise<string[]> => page.evaluate(() => window.violations);
