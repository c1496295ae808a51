/**
 * The modal: a dialog in the top layer, which the page can't clip or cover, with a close button over the frame's
 * header. It shows an error if the frame fails to load.
 */
import { make } from "./make.ts";
import type { Words } from "./words.ts";

/** Events of an open modal. */
export interface Handlers {
  /** The patient wants to close, by our button or otherwise. */
  close(byButton: boolean): void;
  retry(): void;
  /** The browser closed the dialog itself. */
  closed(): void;
  /** Whether clicks outside are ignored. */
  isStatic(): boolean;
}

export interface Modal {
  element: HTMLDialogElement;
  open(): void;
  close(): void;
  /** Shows text in place of the frame, with a retry button if useful; "" removes it. */
  tell(text: string, canRetry?: boolean): void;
  /** Sets all labels. */
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
  // A press that begins inside, such as a text selection, doesn't close.
  element.onclick = (event) => pressedOutside && isOutside(event) && !handlers.isStatic() && handlers.close(false);

  return {
    element,
    /** Our own sheet stops the page from scrolling, so that its styles stay untouched. A scrollbar's space is reserved, so that nothing moves. */
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
