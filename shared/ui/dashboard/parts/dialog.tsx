/** Modal dialogs. */
import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../app/app.ts";
import { Field, Form } from "./controls.tsx";

/**
 * A modal dialog. The dialog's buttons, the Escape key and the dialog's owner can close the dialog. The focus then
 * returns to the previously focused element.
 */
export function Dialog({
  title,
  close,
  children,
}: {
  title: string;
  close: () => void;
  children: ComponentChildren;
}): JSX.Element {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close(); // elements behind an open dialog can't get the focus
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const cancel = (event: Event): void => {
    event.preventDefault();
    close();
  };
  return (
    <dialog ref={ref} aria-labelledby={id} onCancel={cancel}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

/** A dialog in which the user confirms an irreversible action by typing a name. */
export function Confirm({
  title,
  name,
  send,
  does,
  close,
  children,
}: {
  title: string;
  name: string;
  send: string;
  does: () => Promise<void>;
  close: () => void;
  children: ComponentChildren;
}): JSX.Element {
  const [typed, setTyped] = useState("");
  const action = useAction();
  const isRight = typed.trim() === name;
  return (
    <Dialog title={title} close={close}>
      {children}
      <Form
        action={action}
        kind="bad"
        send={send}
        cancel={close}
        does={async () => {
          if (!isRight) throw new Error(`Type ${name} to continue.`);
          await does();
        }}
      >
        <Field label={`Type ${name} to continue`} value={typed} set={setTyped} required />
      </Form>
    </Dialog>
  );
}
