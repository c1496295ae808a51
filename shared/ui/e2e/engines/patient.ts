/** A patient's steps, identical in every engine. The page and the service are on different sites, as on customers' pages. */
import type { Payload } from "../../kit/protocol.ts";
import { markup, script, type Placed } from "../support/customer.ts";
import type { Host } from "../support/host.ts";
import { english, mailedCode, newEmail, pattern, PERSONA } from "../support/patient.ts";
import { SANDBOX, type Run } from "../support/run.ts";
import type { Word } from "../../kit/words/language.ts";
import type { Browser } from "./browser.ts";
import { until } from "./driver.ts";

const EARS = `<script>
  self.heard = [];
  for (const type of ["eventBus", "orgConnectionCallback"]) document.addEventListener(type, ({ detail }) => heard.push(detail));
</script>`;

const named = (word: Word): RegExp => pattern(english, word);
const exactly = (text: string): RegExp => new RegExp(`^${text}$`);

export class Patient {
  readonly #browser: Browser;
  readonly #run: Run;
  readonly #page: string; // handle of the window with the customer's page
  #others: string[] = [];

  constructor(browser: Browser, run: Run) {
    this.#browser = browser;
    this.#run = run;
    this.#page = browser.first;
  }

  /** Visits a customer's page and clicks the element's button. */
  async click(host: Host, { headers = {}, ...placed }: Placed): Promise<void> {
    const body = `<main><h1>Alder Clinic</h1>${markup(this.#run, placed)}</main>`;
    await this.#browser.show(this.#page);
    await this.#browser.visit(host.publish({ head: EARS + script(this.#run), body, headers }));
    await this.#browser.click("button", exactly("Share Records"));
  }

  /** Opens the widget on a customer's page. */
  async open(host: Host, attributes: Record<string, string>): Promise<void> {
    await this.click(host, { attributes });
    await this.#browser.enter();
  }

  /** Cancels the sign-in. */
  cancel(): Promise<void> {
    return this.press("cancel");
  }

  /** Waits for a view of the widget by its title. */
  async sees(word: Word): Promise<void> {
    await this.#browser.find("heading", named(word));
  }

  /** Clicks a button of the widget. */
  async press(word: Word): Promise<void> {
    await this.#browser.click("button", named(word));
  }

  async proveEmail(): Promise<void> {
    const email = newEmail();
    await this.#browser.type(named("email"), email);
    await this.press("email_send");
    await this.sees("code_title");
    await this.#browser.type(named("code"), await mailedCode(this.#run, email));
    await this.#browser.press(named("continue"), "heading", named("search_title")); // some browsers continue automatically
  }

  async pick(): Promise<void> {
    await this.#browser.type(named("search"), SANDBOX);
    await this.#browser.click("button", new RegExp(SANDBOX));
    await this.#browser.find("button", named("go"));
  }

  /** Continues to the portal's window. */
  async leave(): Promise<void> {
    await this.follow(() => this.press("go"));
  }

  /** Performs an action that opens a window, and switches to the window. */
  async follow(act: () => Promise<void>): Promise<void> {
    this.#others = await this.#browser.windows();
    await act();
    const opened = async (): Promise<string | undefined> =>
      (await this.#browser.windows()).find((handle) => !this.#others.includes(handle));
    await this.#browser.show(await until("a window opens", opened));
  }

  /** Signs in at the portal and allows access. */
  async allow(): Promise<void> {
    await this.#browser.click("link", PERSONA);
    await this.#browser.click("link", exactly("Allow access"));
  }

  /** Returns from the portal's window to the widget. */
  async goBack(): Promise<void> {
    await this.#browser.show(this.#page);
    await this.#browser.enter();
  }

  /** Waits for a text in the current window, and returns the window's whole text. */
  async reads(text: RegExp): Promise<string> {
    let read = "";
    const matches = async (): Promise<boolean> =>
      text.test((read = String(await this.#browser.evaluate("return document.body.innerText"))));
    await until(`the window says ${text}`, matches, 10_000).catch((error: unknown) => {
      throw new Error(`the window says: ${read}`, { cause: error });
    });
    return read;
  }

  closeWindow(): Promise<void> {
    return this.#browser.close();
  }

  /** Waits for the expected number of events, and returns the page's events. */
  async hears<T = Payload>(count: number): Promise<T[]> {
    await this.#browser.show(this.#page);
    return until(`the page hears ${count} events`, async () => {
      const heard = (await this.#browser.evaluate("return JSON.parse(JSON.stringify(heard))")) as T[];
      return heard.length >= count && heard;
    });
  }
}
