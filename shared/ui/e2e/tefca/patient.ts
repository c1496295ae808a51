/** A patient in TEFCA mode, who reads its words beside those of all. */
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

  /** Past the introduction, whether there is something to agree to or not. */
  async next(): Promise<void> {
    await this.button("agree").or(this.button("continue")).click();
  }

  /** Shows whose address it is. */
  async confirm(run: Run, email = newEmail()): Promise<void> {
    await this.field("email").fill(email);
    await this.button("email_send").click();
    await this.field("code").fill(await mailedCode(run, email));
    await this.button("continue").click();
  }

  /** To the window of the identity check, by one click. */
  async toWindow(): Promise<Page> {
    const opening = this.page.context().waitForEvent("page");
    await this.button("tefca_go").click();
    return opening;
  }

  /** Leaves for the canned page of the identity check, and returns once it has sent its message. */
  async toIdentity(): Promise<Page> {
    const window = await this.toWindow();
    await window.waitForURL(/\/identity\/start$/);
    return window;
  }

  /** What the server says next is asked for at once, as when the patient comes back to the page. */
  async stands(standing: Standing): Promise<void> {
    this.canned.standing = standing;
    await this.page.frames().at(-1)?.evaluate(() => dispatchEvent(new Event("focus")));
  }

  /** Through the window of the identity check, to what comes of it. */
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

  /** The button that connects what is chosen, however many that is. */
  get connecting(): Locator {
    return this.button("tefca_connect").or(this.button("tefca_connect_one")).or(this.button("tefca_connect_other"));
  }

  async close(): Promise<void> {
    await this.page.locator("svc-widget-element").getByRole("button", { name: /^(Close|Cerrar)$/ }).click();
  }
}
