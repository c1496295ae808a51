/** The live element, created and changed through attributes alone, as on a customer's page. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Choice } from "./snippet.ts";
import { eventOf } from "./snippet.ts";

/** Methods of both elements. */
interface Widget extends HTMLElement {
  show(): void;
  hide(): void;
}

interface StageProps {
  choice: Choice;
  /** Incremented to request a new element. */
  turn: number;
  onRenew: () => void;
  onEvent: (name: string, detail: unknown) => void;
  /** Reports why there is no element. */
  onTrouble: (reason: string) => void;
}

/** Sets the element's attributes to wanted. Equal attributes stay unchanged, because the element reacts to every change. */
function align(element: HTMLElement, wanted: ReadonlyMap<string, string>): void {
  for (const { name } of [...element.attributes]) {
    if (name !== "style" && !wanted.has(name)) element.removeAttribute(name);
  }
  for (const [name, value] of wanted) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }
}

function dress(element: HTMLElement, style: ReadonlyMap<string, string>): void {
  element.removeAttribute("style");
  for (const [name, value] of style) element.style.setProperty(name, value);
}

export function Stage({ choice, turn, onRenew, onEvent, onTrouble }: StageProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const element = useRef<Widget | null>(null);
  const hear = useRef(onEvent);
  hear.current = onEvent;

  useEffect(() => {
    import(choice.script).catch(() => onTrouble(`Couldn’t load ${choice.script}. Run make ui to build the script.`));
  }, [choice.script]);

  useEffect(() => {
    const made = document.createElement(choice.tag) as Widget;
    made.addEventListener(eventOf(choice.tag), (event) =>
      hear.current(event.type, event instanceof CustomEvent ? event.detail : undefined),
    );
    align(made, choice.attributes);
    place.current?.append(made);
    element.current = made;
    return () => made.remove();
  }, [choice.tag, turn]);

  useEffect(() => {
    if (element.current === null) return;
    align(element.current, choice.attributes);
    dress(element.current, choice.style);
    if (element.current.textContent !== choice.label) element.current.textContent = choice.label;
  }, [choice, turn]);

  return (
    <>
      <div ref={place} class="live" lang={document.documentElement.lang} />
      <div class="row">
        <button type="button" onClick={() => element.current?.show()}>
          show()
        </button>
        <button type="button" onClick={() => element.current?.hide()}>
          hide()
        </button>
        <button type="button" onClick={onRenew}>
          New element
        </button>
      </div>
    </>
  );
}
