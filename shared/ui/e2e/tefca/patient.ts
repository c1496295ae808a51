/** A patient in TEFCA mode, with the mode's additional words. */
import type { Locator, Page } from "@playwright/test";
import type { Standing } from "../../embed/api/records.ts";
import { language, type Language } from "../../kit/words/language.ts";
import type { Words } from "../../kit/words/tefca.ts";
import { words as en } from "../../kit/words/en.ts";
import { words as es } from "../../kit/words/es.ts";
import { words as tefcaEn } from "../../kit/words/tefca-en.ts";
import { words as tefcaEs } from "../../kit/words/tefca-es.ts";
import type { CannedTefca } from "../support/canned-tefca.ts";
import { mailedCode, newEmail, Patient } from "../support/patient.ts";
import type { Run } from "../support/run.ts";
import { expect } from "../support/test.ts";

export const english = language("en", { ...en, ...tefcaEn });
export const spanish = language("es", { ...es, ...tefcaEs });

export class TefcaPatient extends Patient<Words> {
  readonly canned: CannedTefca;

  constructor(page: Page, lang: Language<Words>, canned: CannedTefca) {
    super(page, undefined, lang);
    this.canned = canned;
  }

  /** Passes the introduction, with or without the terms. */
  async next(): Promise<void> {
    await this.button("agree").or(this.button("continue")).click();
  }

  /** Confirms an email address. */
  async confirm(run: Run, email = newEmail()): Promise<void> {
    await this.field("email").fill(email);
    await this.button("email_send").click();
    await this.field("code").fill(await mailedCode(run, email));
    await this.button("continue").click();
  }

  /** Clicks once to open the identity check's window. */
  async toWindow(): Promise<Page> {
    const opening = this.page.context().waitForEvent("page");
    await this.button("tefca_go").click();
    return opening;
  }

  /** Starts the fake identity check, and returns after the check's page has sent its message. */
  async toIdentity(): Promise<Page> {
    const window = await this.toWindow();
    await window.waitForURL(/\/identity\/start$/);
    return window;
  }

  /** Polls the server's next state immediately, as if the patient had returned to the page. */
  async stands(standing: Standing): Promise<void> {
    this.canned.standing = standing;
    await this.page
      .frames()
      .at(-1)
      ?.evaluate(() => dispatchEvent(new Event("focus")));
  }

  /** Completes the identity check in its window, up to the result. */
  async verify(standing: Standing): Promise<void> {
    this.canned.standing = { status: "created", facilities: [] };
    await expect(this.button("tefca_go")).toBeEnabled();
    const window = await this.toIdentity();
    await window.close();
    await this.stands(standing);
  }

  async tick(name: string): Promise<void> {
    await this.where.getByRole("checkbox", { name }).check();
  }

  /** Returns the button that connects the chosen places. */
  get connecting(): Locator {
    return this.button("tefca_connect").or(this.button("tefca_connect_one")).or(this.button("tefca_connect_other"));
  }

  async close(): Promise<void> {
    await this.page
      .locator("svc-widget-element")
      .getByRole("button", { name: /^(Close|Cerrar)$/ })
      .click();
  }
}
