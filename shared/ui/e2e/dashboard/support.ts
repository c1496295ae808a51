/** A developer who clicks and types. Developer counts each action. */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "@playwright/test";
import type { Locator, Page, TestInfo } from "@playwright/test";
import { receive } from "../../dashboard/parts/snippets.ts";
import { mailedCode } from "../support/patient.ts";
import type { Run } from "../support/run.ts";

/** Returns an email address at a company that has no account. */
export const newcomer = (): string => `ada@alder-${randomUUID().slice(0, 8)}.example`;

export class Developer {
  clicks = 0;
  typed = 0;
  readonly page: Page;
  readonly #began = Date.now();

  constructor(page: Page) {
    this.page = page;
  }

  button = (name: string | RegExp): Promise<void> =>
    this.press(this.page.getByRole("button", { name, exact: typeof name === "string" }));

  link = (name: string | RegExp): Promise<void> =>
    this.press(this.page.getByRole("link", { name, exact: typeof name === "string" }).first());

  async press(what: Locator): Promise<void> {
    this.clicks += 1;
    await what.click();
  }

  async type(label: string | RegExp, text: string): Promise<void> {
    this.typed += text.length;
    await this.page.getByLabel(label).fill(text);
  }

  /** Signs in on the page that asks for an email address. */
  async signIn(run: Run, email: string): Promise<void> {
    await this.type("Work email", email);
    await this.button("Send code");
    await expect(this.page.getByLabel("Code")).toBeFocused();
    await this.type("Code", await mailedCode(run, email));
    await this.button("Continue");
  }

  async found(name: string): Promise<void> {
    await this.type("Organisation name", name);
    await this.button("Create organisation");
  }

  /** Closes the dialog that follows the first second factor, and returns the dialog's recovery codes. */
  async saveRecoveryCodes(): Promise<string[]> {
    const dialog = this.page.getByRole("dialog", { name: "Save your recovery codes" });
    await expect(dialog.getByRole("listitem")).toHaveCount(10);
    const codes = await dialog.getByRole("listitem").allTextContents();
    await dialog.getByLabel("I’ve saved these codes").check();
    await this.press(dialog.getByRole("button", { name: "Done" }));
    await expect(dialog).toHaveCount(0);
    return codes;
  }

  async signOut(): Promise<void> {
    await this.page.getByRole("button", { name: "Sign out", exact: true }).last().click();
    await expect(this.page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  }

  /** Estimates the time that a person would have taken so far: the waiting time plus a fixed time per action. */
  seconds(): number {
    return this.clicks * PRESS_SECONDS + this.typed * LETTER_SECONDS + (Date.now() - this.#began) / 1000;
  }

  /** Reports the effort so far. */
  tell(what: string, info: TestInfo): void {
    const description = `${this.clicks} presses, ${this.typed} letters, ${Math.round(this.seconds())} s`;
    info.annotations.push({ type: what, description });
    console.log(`${what}: ${description}`);
  }
}

/** The minimum time that a person needs to click an element, and to type a character. */
const PRESS_SECONDS = 3;
const LETTER_SECONDS = 0.3;

/** Refreshes the page until the expected content appears. */
export async function lookUntil(page: Page, text: string | RegExp, times = 1): Promise<void> {
  await expect(async () => {
    await page.getByRole("button", { name: "Refresh" }).first().click();
    await expect(page.getByText(text).nth(times - 1)).toBeVisible({ timeout: 1_000 });
  }).toPass();
}

type Verify = (headers: NodeJS.Dict<string | string[]>, body: Buffer, secret: string) => boolean;

/** A customer's webhook endpoint. The endpoint verifies events with the dashboard's sample code. */
export class Receiver {
  secret = "";
  status = 204; // status of the endpoint's responses
  readonly received: { type: string; id: string; isVerified: boolean }[] = [];
  readonly #server: Server;

  private constructor(verify: Verify) {
    this.#server = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray());
      const { type } = JSON.parse(body.toString()) as { type: string };
      this.received.push({
        type,
        id: String(request.headers["webhook-id"]),
        isVerified: verify(request.headers, body, this.secret),
      });
      response.writeHead(this.status).end();
    });
  }

  static async start(): Promise<Receiver> {
    const { verifyWebhook } = (await import(`data:text/javascript,${encodeURIComponent(receive("Node"))}`)) as {
      verifyWebhook: Verify;
    };
    const made = new Receiver(verifyWebhook);
    await new Promise<void>((resolve) => made.#server.listen(0, "127.0.0.1", resolve));
    return made;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/records`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
