/** A browser as a patient uses it: windows, frames, and elements by role and name. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until, type Engine, type Options } from "./driver.ts";

type Role = "button" | "link" | "heading" | "textbox";

/** A reference to an element, with the property that the WebDriver standard names. */
const KEY = "element-6066-11e4-a52e-4f735466cecf";
type Reference = { [KEY]: string };

/** Runs in the page: returns the first visible, enabled element with a role and name, also within shadow roots. */
const FIND = `
  const [role, pattern] = arguments;
  const selectors = { button: "button", link: "a[href]", heading: "h1, h2", textbox: "input" };
  const text = (node) => node?.textContent.replace(/\\s+/g, " ").trim();
  const nameOf = (element) => element.getAttribute("aria-label") ?? text(element.labels?.[0]) ?? text(element);
  const isUsable = (element) => element.getClientRects().length > 0 && !element.disabled && element.ariaDisabled !== "true" && !element.closest("[aria-busy=true]");
  const isWanted = (element) => element.matches(selectors[role]) && isUsable(element) && new RegExp(pattern).test(nameOf(element));
  const within = (root) => [...root.querySelectorAll("*")].flatMap((element) => [element, ...(element.shadowRoot ? within(element.shadowRoot) : [])]);
  return within(document).find(isWanted) ?? null;`;

const FRAME = `return document.querySelector("svc-widget-element")?.shadowRoot.querySelector("iframe") ?? null;`;

export class Browser {
  /** The handle of the browser's first window. Handles are unordered, and earlier sign-in windows may still be closing. */
  readonly first: string;
  readonly #engine: Engine;
  readonly #folder: string;

  private constructor(engine: Engine, folder: string, first: string) {
    this.first = first;
    this.#engine = engine;
    this.#folder = folder;
  }

  static async start(
    engine: (options: Options) => Promise<Engine>,
    options: Omit<Options, "folder"> = { blocksCookies: false },
  ): Promise<Browser> {
    const folder = mkdtempSync(join(tmpdir(), "recordbridge-engine-"));
    const started = await engine({ folder, ...options });
    const [first = ""] = (await started.send("GetWindowHandles")) as string[];
    return new Browser(started, folder, first);
  }

  async stop(): Promise<void> {
    await this.#engine.stop();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async visit(url: string): Promise<void> {
    await this.#engine.send("Navigate", { url });
  }

  evaluate(script: string, ...args: unknown[]): Promise<unknown> {
    return this.#engine.send("ExecuteScript", { script, args });
  }

  /** Waits for an element and returns it. */
  find(role: Role, name: RegExp): Promise<Reference> {
    const look = async (): Promise<Reference | false> =>
      ((await this.evaluate(FIND, role, name.source)) as Reference | null) ?? false;
    return until(`there is a ${role} ${name}`, look);
  }

  /** Clicks an element. The element may move or be replaced meanwhile, so the click is repeated until the browser accepts it. */
  async click(role: Role, name: RegExp): Promise<void> {
    await until(`the ${role} ${name} is clicked`, async () => {
      const { [KEY]: id } = await this.find(role, name);
      await this.#engine.send("ElementClick", { id });
      return true;
    });
  }

  /** Clicks a field and types with key presses, because WebKit can't set text in a cross-site frame. */
  async type(name: RegExp, text: string): Promise<void> {
    await this.click("textbox", name);
    const keys = [...text].flatMap((value) => [
      { type: "keyDown", value },
      { type: "keyUp", value },
    ]);
    await this.#engine.send("PerformActions", { actions: [{ type: "key", id: "keyboard", actions: keys }] });
  }

  /** Clicks the button while it is visible, until an element appears. */
  async press(name: RegExp, role: Role, goal: RegExp): Promise<void> {
    await until(`${name} leads to ${goal}`, async () => {
      if (await this.evaluate(FIND, role, goal.source)) return true;
      const button = (await this.evaluate(FIND, "button", name.source)) as Reference | null;
      if (button) await this.#engine.send("ElementClick", { id: button[KEY] });
      return false;
    });
  }

  /** Enters the widget's frame. */
  async enter(): Promise<void> {
    const id = await until("the widget has a frame", async () => (await this.evaluate(FRAME)) ?? false);
    await this.#engine.send("SwitchToFrame", { id });
  }

  windows(): Promise<string[]> {
    return this.#engine.send("GetWindowHandles") as Promise<string[]>;
  }

  async show(handle: string): Promise<void> {
    await this.#engine.send("SwitchToWindow", { handle, name: handle });
  }

  /** Closes the current window. */
  async close(): Promise<void> {
    await this.#engine.send("CloseWindow");
  }
}
