/**
 * The modal: a dialog in the top layer, which the page can't clip or cover. A close button is placed over the frame's
 * header. The modal shows an error if the frame fails to load.
 */
import { make } from "./make.ts";
import type { Words } from "./words.ts";

export interface Modal {
  element: HTMLDialogElement;
  open(): void;
  close(): void;
  /** Replaces the frame with an error, the given text and, optionally, a retry button. */
  show(text: string, canRetry?: boolean): void;
  /** Removes the error. */
  hide(): void;
  /** Sets all labels. */
  name(words: Words): void;
}

/**
 * Creates a modal. ask is called if the patient wants to close the modal by our button, the backdrop or another way.
 * ended is called if the browser closed the modal.
 */
export function makeModal(
  ask: (byButton?: boolean, byBackdrop?: boolean) => void,
  again: () => void,
  ended: () => void,
): Modal {
  const cross = make("button", { textContent: "×" }, "close");
  const failed = make("p");
  const told = make("p");
  const retry = make("button");
  const panel = make("div", { role: "alert" }, "", failed, told, retry);
  const element = make("dialog", {}, "dialog", cross, panel);
  const lock = new CSSStyleSheet();
  let pressedOutside = false;

  cross.onclick = () => ask(true);
  retry.onclick = again;
  element.oncancel = (event) => {
    event.preventDefault();
    ask();
  };
  element.onclose = () => element.open || ended();
  element.onpointerdown = (event) => (pressedOutside = event.target === element);
  // The content covers the dialog, so a press on the dialog itself is outside. A press that begins inside, such as a text selection, doesn't close.
  element.onclick = (event) => pressedOutside && event.target === element && ask(false, true);

  return {
    element,
    /**
     * Opens the dialog. A separate style sheet stops the page from scrolling, so that the page's own styles stay
     * unchanged. The sheet reserves a scrollbar's space, so that no content moves.
     */
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
    show(text, canRetry = true) {
      panel.hidden = false;
      told.textContent = text;
      retry.hidden = !canRetry;
    },
    hide() {
      panel.hidden = true;
    },
    name(words) {
      element.ariaLabel = words.title;
      cross.ariaLabel = words.close;
      failed.textContent = words.failed;
      retry.textContent = words.retry;
    },
  };
}
