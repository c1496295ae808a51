/**
 * Building blocks of screens: buttons, fields, forms and messages. The style sheet defines their appearance; the
 * screens define their text.
 */
import type { ComponentChildren, JSX } from "preact";
import { useContext, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Failure } from "../api/api.ts";
import { Context, useApp, useUnsaved } from "../app/app.ts";
import type { Action, Answer } from "../app/app.ts";
import { advice } from "./advice.ts";
import { chapters, explanation } from "./chapters.ts";

/** A screen's title with a link to its chapter. The title gets the focus when the screen opens (shell/frame.tsx). */
export function Title({
  children,
  lead,
  actions,
}: {
  children: ComponentChildren;
  lead?: ComponentChildren;
  actions?: ComponentChildren;
}): JSX.Element {
  const chapter = chapters[useContext(Context)?.place.screen ?? "none"]; // there is no context before sign-in
  return (
    <header class="title">
      <div>
        <h1 tabIndex={-1}>{children}</h1>
        {lead && <p class="lead">{lead}</p>}
      </div>
      <div class="row">
        {chapter !== undefined && <Out href={chapter}>Help</Out>}
        {actions}
      </div>
    </header>
  );
}

export function Panel({
  title,
  lead,
  actions,
  children,
}: {
  title: string;
  lead?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}): JSX.Element {
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="panel-head">
        <div>
          <h2 id={id}>{title}</h2>
          {lead && <p class="soft">{lead}</p>}
        </div>
        {actions && <div class="row">{actions}</div>}
      </div>
      {children}
    </section>
  );
}

interface ButtonProps {
  children: ComponentChildren;
  onClick?: () => void;
  kind?: "main" | "bad" | "quiet" | undefined;
  submit?: boolean;
  busy?: boolean;
  label?: string;
}

/** A button. A busy button uses aria-disabled rather than disabled, so it keeps the focus. */
export function Button({ children, onClick, kind, submit, busy, label }: ButtonProps): JSX.Element {
  const press = (event: MouseEvent): void => {
    if (busy) event.preventDefault();
    else onClick?.();
  };
  return (
    <button
      class={kind ? `button ${kind}` : "button"}
      type={submit ? "submit" : "button"}
      aria-disabled={busy ? "true" : undefined}
      aria-label={label}
      onClick={press}
    >
      {children}
    </button>
  );
}

export function LinkButton({
  href,
  children,
  kind,
}: {
  href: string;
  children: ComponentChildren;
  kind?: "main";
}): JSX.Element {
  return (
    <a class={kind ? `button ${kind}` : "button"} href={href}>
      {children}
    </a>
  );
}

/** A link that opens in a new window. */
export function Out({
  href,
  children,
  button,
}: {
  href: string;
  children: ComponentChildren;
  button?: boolean;
}): JSX.Element {
  return (
    <a class={button ? "button" : undefined} href={href} target="_blank" rel="noopener noreferrer">
      {children}
      <span class="hidden"> (opens in a new window)</span>
    </a>
  );
}

/** The input attributes that a screen may set. */
interface Input {
  type?: "text" | "email" | "url" | "number" | "date" | "search";
  required?: boolean;
  readOnly?: boolean;
  maxLength?: number;
  min?: number;
  max?: number;
  pattern?: string;
  placeholder?: string;
  autocomplete?: "off" | "email" | "organization" | "one-time-code";
  inputMode?: "email" | "numeric";
  onChange?: (event: { currentTarget: { value: string } }) => void;
}

interface FieldProps extends Input {
  /** Whether the field gets the focus when it appears. */
  first?: boolean;
  label: string;
  value: string;
  set: (value: string) => void;
  help?: ComponentChildren;
  rows?: number;
  choices?: readonly (string | readonly [value: string, label: string])[];
}

/** A labelled input, text area (rows) or select (choices). */
export function Field({ label, value, set, help, rows, choices, first, ...input }: FieldProps): JSX.Element {
  const id = useId();
  const ref = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (first) ref.current?.focus();
  }, []);
  const common = {
    id,
    value,
    "aria-describedby": help ? `${id}-help` : undefined,
    onInput: (event: { currentTarget: { value: string } }) => set(event.currentTarget.value),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {choices && (
        <select {...common}>
          {choices.map((choice) => {
            const [of, text] = typeof choice === "string" ? [choice, choice] : choice;
            return (
              <option key={of} value={of} selected={of === value}>
                {text}
              </option>
            );
          })}
        </select>
      )}
      {rows && !choices && (
        <textarea
          {...common}
          rows={rows}
          spellcheck={false}
          required={input.required}
          maxLength={input.maxLength}
          placeholder={input.placeholder}
        />
      )}
      {!rows && !choices && (
        <input ref={ref} autocomplete="off" spellcheck={false} {...(input as object)} {...common} />
      )}
      {help && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  );
}

export function Check({
  label,
  help,
  checked,
  set,
  locked,
}: {
  label: ComponentChildren;
  help?: ComponentChildren;
  checked: boolean;
  set: (checked: boolean) => void;
  locked?: boolean;
}): JSX.Element {
  const id = useId();
  return (
    <div class="check">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        disabled={locked}
        aria-describedby={help ? `${id}-help` : undefined}
        onChange={(event) => set(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {help && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  );
}

interface FormProps {
  children: ComponentChildren;
  action: Action;
  does: () => Promise<void>;
  send: string;
  kind?: "main" | "bad";
  cancel?: () => void;
  cancelLabel?: string;
  /** Whether the form's input is not worth a warning when the user leaves the page. */
  isDisposable?: boolean;
}

/** A form with its fields, failure message and buttons. Unsaved input causes a warning when the user leaves the page. */
export function Form({ children, action, does, send, kind = "main", ...options }: FormProps): JSX.Element {
  const { cancel, cancelLabel = "Cancel", isDisposable } = options;
  const declare = useUnsaved();
  const submit = (event: Event): void => {
    event.preventDefault();
    action.run(async () => {
      declare(false); // before does(), which may open another page
      await does().catch((error: unknown) => {
        declare(true);
        throw error;
      });
    });
  };
  return (
    <form class="form" onSubmit={submit} onInput={() => !isDisposable && declare(true)}>
      {children}
      <Trouble failure={action.failure} />
      <div class="row">
        <Button submit kind={kind} busy={action.busy}>
          {action.busy ? "One moment…" : send}
        </Button>
        {cancel && <Button onClick={cancel}>{cancelLabel}</Button>}
      </div>
    </form>
  );
}

/** A failure message with advice and the request ID. */
export function Trouble({ failure, retry }: { failure: Failure | undefined; retry?: () => void }): JSX.Element {
  return (
    <div role="alert">
      {failure && (
        <div class="notice bad">
          <p>{failure.description}</p>
          {advice(failure) !== "" && <p class="soft">{advice(failure)}</p>}
          {failure.requestId !== "" && (
            <p class="soft">
              Request ID <code>{failure.requestId}</code>
            </p>
          )}
          {explanation(failure.error) !== undefined && (
            <p class="soft">
              Error <Out href={explanation(failure.error) ?? ""}>{failure.error}</Out>
            </p>
          )}
          {retry && <Button onClick={retry}>Try again</Button>}
        </div>
      )}
    </div>
  );
}

/** Shows a query's progress, failure or data. */
export function Load<T>({
  answer,
  children,
}: {
  answer: Answer<T>;
  children: (data: T) => ComponentChildren;
}): JSX.Element {
  if (answer.failure) return <Trouble failure={answer.failure} retry={answer.reload} />;
  if (answer.data === undefined) {
    return (
      <div class="bones" role="status">
        <span class="hidden">Loading</span>
        <i />
        <i />
        <i />
      </div>
    );
  }
  return <>{children(answer.data)}</>;
}

/** An empty state with a hint about how to add data. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <p class="strong">{title}</p>
      {children}
    </div>
  );
}

export function Notice({
  tone,
  children,
}: {
  tone?: "good" | "bad" | "warn" | undefined;
  children: ComponentChildren;
}): JSX.Element {
  return <div class={`notice ${tone ?? ""}`}>{children}</div>;
}

/** A button that copies a text and announces the result. */
export function Copy({ text, label = "Copy", what }: { text: string; label?: string; what: string }): JSX.Element {
  const { say } = useApp();
  const [failed, setFailed] = useState(false);
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => say(`Copied ${what}.`),
      () => setFailed(true),
    );
  };
  return (
    <Button kind="quiet" onClick={copy} label={label.includes(what) ? label : `${label} ${what}`}>
      {failed ? "Select and copy the text" : label}
    </Button>
  );
}
