/**
 * The test environment for the elements alone: customers' pages, and a fake service that follows the protocol as each
 * spec directs. The real pages are tested elsewhere.
 */
import { test as base, type Frame, type Page } from "@playwright/test";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Callback, FromFrame, Init, Payload } from "../../kit/protocol.ts";
import { Host } from "../support/host.ts";
import { repository } from "../support/run.ts";

const built = join(repository, "build/ui");
export const { files } = JSON.parse(readFileSync(join(built, "manifest.json"), "utf8")) as {
  files: Record<string, { path: string }>;
};

/** The fake frame's global values: the received configuration and messages, and a function that sends a message. */
interface Played {
  init: Init;
  heard: unknown[];
  say(message: FromFrame): void;
}

/** Sends hello repeatedly, like the real frame, and accepts only the first answer. A URL that contains "silent" prevents the hello. */
const EMBED = `<!doctype html><title>ours</title><button>inside</button><script>
  self.heard = [];
  addEventListener("message", ({ data, ports: [port] }) => {
    if (data?.svc !== "init" || self.init) return;
    self.init = data;
    self.say = (message) => setTimeout(() => port.postMessage(message), 20); // the page may remove this frame in response
    port.onmessage = (event) => self.heard.push(event.data);
  });
  if (parent !== self && !location.search.includes("silent")) for (let times = 0; times < 3; times++) parent.postMessage({ svc: "hello", v: 1 }, "*");
</script>`;

export class Service {
  readonly #server: Server;
  /** The requested URLs, without scripts. */
  readonly asked: string[] = [];
  /** Redirects the frame's URL. */
  detour = "";

  constructor() {
    this.#server = createServer((request, response) => {
      const address = request.url ?? "";
      if (address.startsWith("/v1/sdk/")) {
        response.writeHead(200, { "content-type": "text/javascript", "access-control-allow-origin": "*" });
        return response.end(readFileSync(join(built, files["sdk/svc-widget.js"]?.path ?? "")));
      }
      if (address === "/favicon.ico") return response.writeHead(404).end();
      this.asked.push(address);
      if (this.detour && address.startsWith("/v1/widget/embed"))
        return response.writeHead(302, { location: this.detour }).end();
      response.writeHead(200, { "content-type": "text/html" });
      return response.end(EMBED);
    });
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  origin(site = "service"): string {
    return `http://${site}.localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  get base(): string {
    return `${this.origin()}/v1`;
  }

  get script(): string {
    return `${this.base}/sdk/4/svc-widget.js`;
  }
}

export const PUBLIC_ID = "public_test_0f9e3c5b-1d04-4d9b-8e21-95f8a7a45c3d";

/** Records an element's events and the page's policy violations. */
export const EARS = `<script>
  window.told = []; window.violations = [];
  for (const type of ["eventBus", "orgConnectionCallback"]) document.addEventListener(type, (event) => told.push(structuredClone(event.detail)));
  document.addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective + " " + event.blockedURI));
</script>`;

interface Fixtures {
  service: Service;
  host: Host;
  /** Opens a customer's page with this body and the script. */
  visit(body: string, page?: { head?: string; headers?: Record<string, string>; lang?: string }): Promise<Page>;
}

export const test = base.extend<Fixtures>({
  service: async ({}, use) => {
    const service = new Service();
    await service.listen();
    await use(service);
    await service.close();
  },
  host: async ({}, use) => {
    const host = new Host();
    await host.listen();
    await use(host);
    await host.close();
  },
  visit: async ({ page, host, service }, use) => {
    await use(async (body, { head = "", ...rest } = {}) => {
      await page.goto(
        host.publish({ body, head: `${EARS}${head}<script type="module" src="${service.script}"></script>`, ...rest }),
      );
      return page;
    });
  },
});

export { expect } from "@playwright/test";

/** Returns the fake frame after the frame has received its configuration. */
export async function played(page: Page, index = 0): Promise<Frame> {
  await page.waitForFunction(
    (wanted) => document.querySelectorAll("svc-widget-element, svc-widget").length >= wanted,
    index,
  );
  const ours = (): Frame | undefined =>
    page.frames().filter((frame) => frame.url().includes("/v1/widget/embed"))[index];
  for (let tries = 0; !ours() && tries < 50; tries++) await page.waitForTimeout(50);
  const frame = ours();
  if (!frame) throw new Error("there is no frame of ours");
  await frame.waitForFunction(() => "init" in self);
  return frame;
}

export const init = (frame: Frame): Promise<Init> => frame.evaluate(() => (self as unknown as Played).init);
export const heard = (frame: Frame): Promise<unknown[]> => frame.evaluate(() => (self as unknown as Played).heard);
export const say = (frame: Frame, ...messages: FromFrame[]): Promise<void> =>
  frame.evaluate((all) => all.forEach((one) => (self as unknown as Played).say(one)), messages);
export const told = (page: Page): Promise<Payload[]> =>
  page.evaluate(() => (self as unknown as { told: Payload[] }).told);
export const violations = (page: Page): Promise<string[]> =>
  page.evaluate(() => (self as unknown as { violations: string[] }).violations);

/** A connection, as the frame reports it. */
export const CONNECTED: Payload = {
  api_mode: "test",
  event_type: "patient.connection_success",
  data: {
    org_connection_id: "6f1c2a52-0f6e-4d2b-9c0c-6a4a8a0f2a11",
    endpoint_id: "935cddab-b857-5c34-aabf-583fcec9e6a7",
    portal_id: "39f75093-e9f7-5a5f-95b1-2d8f9323081e",
    brand_id: "0ae6105d-75f7-5870-a72b-0ebb0a8f873d",
    connection_status: "authorized",
    platform_type: "sandbox",
    request_id: "5a0c6d70-7f5b-4d7a-9d43-0f3b1f2b7c55",
    external_id: "visit-9",
    scope: "patient/*.rs",
    consent_expires_at: "2027-02-19T09:30:12Z",
  },
};

/** The result of the older element's attempt, as its hidden frame reports it. */
export const RESULT: Callback = {
  org_connection_id: "6f1c2a52-0f6e-4d2b-9c0c-6a4a8a0f2a11",
  endpoint_id: "935cddab-b857-5c34-aabf-583fcec9e6a7",
  portal_id: "39f75093-e9f7-5a5f-95b1-2d8f9323081e",
  brand_id: "0ae6105d-75f7-5870-a72b-0ebb0a8f873d",
  connection_status: "authorized",
  platform_type: "sandbox",
  request_id: "r-1",
  external_id: "visit-9",
  scope: "patient/*.rs",
  consent_expires_at: "2027-02-19T09:30:12Z",
};

export const REFUSED: Callback = {
  error: "invalid_grant",
  error_description: "The patient declined.",
  request_id: "5a0c6d70-7f5b-4d7a-9d43-0f3b1f2b7c55",
  external_state: "state-9",
};
