/**
 * The modal: a dialog in the top layer, where nothing of the page clips or covers it, with a close button of ours over the end of the frame's head. Where the frame
 * does not come it says so. What happens inside is the frame's matter.
 */
import { make } from "./make.ts";
import type { Words } from "./words.ts";

/** What may happen to an open modal. */
export interface Handlers {
  /** The patient wants to close, by our button or by another way. */
  close(byButton: boolean): void;
  retry(): void;
  /** The browser has closed the dialog by itself. */
  closed(): void;
  /** Whether a click outside leaves it open. */
  isStatic(): boolean;
}

export interface Modal {
  element: HTMLDialogElement;
  open(): void;
  close(): void;
  /** Says text in place of the frame, with a button to try again where that may help; "" takes it away. */
  tell(text: string, canRetry?: boolean): void;
  /** Names everything in these words. */
  name(words: Words): void;
}

export function makeModal(handlers: Handlers): Modal {
  const cross = make("button", { type: "button", textContent: "×" }, "close");
  const told = make("p");
  const retry = make("button", { type: "button" });
  const panel = make("div", { role: "alert" }, "", told, retry);
  const element = make("dialog", {}, "dialog", cross, panel);
  const lock = new CSSStyleSheet();
  let pressedOutside = false;

  const isOutside = ({ target, offsetX: x, offsetY: y }: MouseEvent): boolean =>
    target === element && (x < 0 || y < 0 || x > element.clientWidth || y > element.clientHeight);

  cross.onclick = () => handlers.close(true);
  retry.onclick = () => handlers.retry();
  element.oncancel = (event) => {
    event.preventDefault();
    handlers.close(false);
  };
  element.onclose = () => element.open || handlers.closed();
  element.onpointerdown = (event) => (pressedOutside = isOutside(event));
  // A press that begins inside, as when text is marked, does not close.
  element.onclick = (event) => pressedOutside && isOutside(event) && !handlers.isStatic() && handlers.close(false);

  return {
    element,
    /** The page is kept from scrolling by a sheet of our own: its own styles are as they were afterwards. Where it has a scrollbar nothing moves. */
    open() {
      const gutter = innerWidth > document.documentElement.clientWidth ? ";scrollbar-gutter:stable" : "";
      lock.replaceSync(`:root{overflow:hidden!important${gutter}}`);
      document.adoptedStyleSheets.push(lock);
      element.showModal();
    },
    close() {
      element.close();
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== lock);
    },
    tell(text, canRetry = false) {
      panel.hidden = !text;
      told.textContent = text;
      retry.hidden = !canRetry;
    },
    name(words) {
      element.ariaLabel = words.title;
      cross.ariaLabel = words.close;
      retry.textContent = words.retry;
    },
  };
}
