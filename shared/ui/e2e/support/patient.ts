/** A patient who reads, clicks and types, on the widget's and the hospital's pages. Elements are found by visible text and role. */
import { randomUUID } from "node:crypto";
import { expect } from "@playwright/test";
import type { FrameLocator, Locator, Page } from "@playwright/test";
import { language } from "../../kit/words/language.ts";
import type { Language, Word } from "../../kit/words/language.ts";
import { words as en } from "../../kit/words/en.ts";
import { words as es } from "../../kit/words/es.ts";
import { SANDBOX } from "./run.ts";
import type { Run } from "./run.ts";

export const english = language("en", en);
export const spanish = language("es", es);

/** A sandbox patient, with the name shown on the sandbox's sign-in page. */
export const PERSONA = /Maple/;

/** Returns a new email address, because a mailbox receives only a few codes per hour. */
export const newEmail = (): string => `ada.maple-${randomUUID()}@mail.example`;

/** Returns a pattern that matches a text with any placeholder values. */
export function pattern<W extends string>(lang: Language<W>, word: W): RegExp {
  const escaped = lang.parts(word).map((part, i) => (i % 2 === 0 ? part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") : ".*"));
  return new RegExp(`^\\s*${escaped.join("")}\\s*$`);
}

/** Returns the last six-digit code sent to an address, from the local mailbox. */
export async function mailedCode(run: Run, email: string): Promise<string> {
  let code: string | undefined;
  await expect
    .poll(async () => {
      const response = await fetch(`${run.console_url}/api/mail`);
      const { mails } = (await response.json()) as { mails: { to: string[]; at: string; text: string }[] };
      const newest = mails.filter((mail) => mail.to.includes(email)).sort((a, b) => b.at.localeCompare(a.at))[0];
      code = newest?.text.match(/\b\d{6}\b/)?.[0];
      return code;
    })
    .toBeDefined();
  return code ?? "";
}

/** The sandbox's portal, in any window. */
export class Portal {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async signIn(): Promise<void> {
    await this.page.getByRole("link", { name: PERSONA }).first().click();
    await expect(this.page.getByRole("heading", { name: "Share your health records?" })).toBeVisible();
  }

  async allow(): Promise<void> {
    await this.page.getByRole("link", { name: "Allow access" }).click();
  }

  async deny(): Promise<void> {
    await this.page.getByRole("link", { name: "Deny" }).click();
  }

  /** Reloads a page that failed to load. The browser ignores a reload while it still shows its own error page. */
  async again(): Promise<void> {
    const isLost = (): boolean => this.page.url().startsWith("chrome-error:");
    await expect.poll(isLost).toBe(true);
    await expect(async () => {
      if (isLost()) await this.page.reload();
    }).toPass();
  }

  async signInAndAllow(): Promise<void> {
    await this.signIn();
    await this.allow();
  }
}

/** A patient on the widget's pages. where is the frame in a customer's page, or the hosted page itself. */
export class Patient<W extends string = Word> {
  readonly page: Page;
  readonly where: FrameLocator | Page;
  readonly lang: Language<W | Word>;

  constructor(page: Page, where?: FrameLocator | Page, lang: Language<W | Word> = english) {
    this.page = page;
    this.where = where ?? page.frameLocator("svc-widget-element iframe");
    this.lang = lang;
  }

  heading(word: W | Word): Locator {
    return this.where.getByRole("heading", { level: 1, name: pattern(this.lang, word) });
  }

  button(word: W | Word): Locator {
    return this.where.getByRole("button", { name: pattern(this.lang, word) });
  }

  field(word: W | Word): Locator {
    return this.where.getByLabel(pattern(this.lang, word));
  }

  /** Clicks the element's own button. */
  async open(): Promise<void> {
    await this.page.locator("svc-widget-element").first().getByRole("button").first().click();
  }

  async sees(word: W | Word): Promise<void> {
    await expect(this.heading(word)).toBeVisible();
  }

  /**
   * Clicks a button as long as the page offers it, until the goal is reached. A retry button next to a reached goal
   * belongs to an earlier failure and has no effect.
   */
  async press(goal: () => Promise<boolean>, word: W | Word = "try_again"): Promise<void> {
    const button = this.button(word).first();
    await expect(async () => {
      if (await button.isVisible()) await button.click({ timeout: 5_000 }); // the button may disappear during the click
      expect(await goal()).toBe(true);
      if (word === "try_again") expect(await button.isVisible()).toBe(false);
    }).toPass();
  }

  async agree(): Promise<void> {
    await this.button("agree").click();
  }

  async proveEmail(run: Run, email = newEmail()): Promise<void> {
    await this.field("email").fill(email);
    await this.button("email_send").click();
    await this.field("code").fill(await mailedCode(run, email));
    const next = this.button("continue");
    await expect(this.heading("search_title").or(next)).toBeVisible();
    if (await next.isVisible()) await next.click();
    await this.sees("search_title");
  }

  /** Leads from the hosted page's start to the search. */
  async arrive(run: Run): Promise<void> {
    await this.agree();
    await this.proveEmail(run);
  }

  async find(query: string): Promise<void> {
    await this.field("search").fill(query);
  }

  async pick(name: string = SANDBOX): Promise<void> {
    await this.find(name);
    await expect(this.where.locator("[aria-busy=true]")).toHaveCount(0); // old results disappear during the click
    await this.where.getByRole("button", { name }).first().click();
    await expect(this.button("go")).toBeEnabled();
  }

  /** Clicks once to open the portal in its own window. */
  async leave(button: Word = "go"): Promise<Portal> {
    const opening = this.page.context().waitForEvent("page");
    await this.button(button).click();
    return new Portal(await opening);
  }

  async connect(name: string = SANDBOX): Promise<void> {
    await this.pick(name);
    const portal = await this.leave();
    await portal.signInAndAllow();
    await this.sees("success_title");
  }

  async finish(): Promise<void> {
    await this.button("done").click();
    await expect(this.page.getByRole("dialog")).toBeHidden();
  }
}
