/** Components of views. */
import type { ComponentChildren, InputHTMLAttributes } from "preact";
import type { Failure } from "../api/records.ts";
import { Icon, type IconName } from "./icons.tsx";
import { isRight } from "../machine/forms.ts";
import type { Draft, Start } from "../machine/message.ts";
import type { Word } from "../../kit/words/language.ts";
import type { Ui } from "./ui.ts";

const wrongs: Partial<Record<keyof Draft, Word>> = { email: "email_wrong", code: "code_short" };

/** Input attributes of an email field. */
export const emailInput = {
  type: "email",
  autocomplete: "email",
  inputMode: "email",
  spellcheck: false,
  maxLength: 254,
} as const;

/** A pasted code may contain spaces or a dash. */
function digits(text: string): string {
  return text.replace(/\D/g, "").slice(0, 6);
}

/** A view's heading. App moves the focus to its title, so that a screen reader starts there. */
export function Title({
  children,
  lead,
  mark,
  tone,
}: {
  children: ComponentChildren;
  lead?: ComponentChildren;
  mark?: IconName;
  tone?: "good" | "bad";
}) {
  return (
    <div class="title">
      {mark && (
        <div class={`mark ${tone ?? ""}`}>
          <Icon name={mark} />
        </div>
      )}
      <h1 tabIndex={-1}>{children}</h1>
      {lead && <p class="lead">{lead}</p>}
    </div>
  );
}

interface ButtonProps {
  children: ComponentChildren;
  onClick?: () => void;
  second?: boolean;
  submit?: boolean;
  disabled?: boolean;
}

/** A button. A disabled button has aria-disabled, so it can still get and keep the focus. */
export function Button({ children, onClick, second, submit, disabled }: ButtonProps) {
  const press = (event: MouseEvent) => {
    if (disabled) event.preventDefault();
    else onClick?.();
  };
  return (
    <button
      class={second ? "button second" : "button"}
      type={submit ? "submit" : "button"}
      aria-disabled={disabled ? "true" : undefined}
      onClick={press}
    >
      {children}
    </button>
  );
}

export function Quiet({ children, onClick }: { children: ComponentChildren; onClick: () => void }) {
  return (
    <button class="quiet" type="button" onClick={onClick}>
      {children}
    </button>
  );
}

/** An external link, without referrer or opener. */
export function Out({
  href,
  children,
  t,
  class: name,
}: {
  href: string;
  children: ComponentChildren;
  t: Ui["t"];
  class?: string;
}) {
  return (
    <a href={href} class={name} target="_blank" rel="noopener noreferrer">
      {children}
      <span class="hidden"> ({t.say("new_window")})</span>
    </a>
  );
}

/** Starts an attempt in another window if the first click opened none. A sandbox without allow-forms fires no submit event, so onClick reports the click. */
export function Again({
  start,
  children,
  t,
  onClick,
}: {
  start: Start;
  children: ComponentChildren;
  t: Ui["t"];
  onClick: () => void;
}) {
  return (
    <form method="post" action={start.url} target="_blank" rel="noopener">
      <input type="hidden" name="start_value" value={start.value} />
      <p>
        {t.say("waiting_none")}{" "}
        <button class="quiet" type="submit" onClick={onClick}>
          {children}
          <span class="hidden"> ({t.say("new_window")})</span>
        </button>
      </p>
    </form>
  );
}

interface FieldProps {
  ui: Ui;
  id: keyof Draft;
  label: string;
  error?: string | undefined; // an error more specific than "required"
  optional?: boolean;
  rows?: boolean;
  input?: InputHTMLAttributes<HTMLInputElement>;
}

/** A field of the draft. */
export function Field({ ui, id, label, error: known, optional, rows, input }: FieldProps) {
  const { s, t, send } = ui;
  const error = known ?? (s.judged > 0 && !isRight(s, id) ? t.say(wrongs[id] ?? "required") : undefined);
  const onInput = (value: string) => send({ type: "draft", draft: { [id]: id === "code" ? digits(value) : value } });
  const common = {
    id,
    value: s.draft[id],
    "aria-invalid": error ? ("true" as const) : undefined,
    "aria-describedby": error ? `${id}-wrong` : undefined,
    onInput: (event: Event & { currentTarget: { value: string } }) => onInput(event.currentTarget.value),
  };
  return (
    <div class="field">
      <label for={id}>
        {label} {optional && <span>({t.say("optional")})</span>}
      </label>
      {rows ? <textarea {...common} maxLength={3300} /> : <input {...common} {...input} />}
      {error && (
        <p class="wrong" id={`${id}-wrong`}>
          {error}
        </p>
      )}
    </div>
  );
}

/**
 * A form that the view validates on submission, in the patient's language. The form handles the button's click, which
 * Enter also triggers, because a sandbox without allow-forms submits no form.
 */
export function Form({ children, onSend }: { children: ComponentChildren; onSend: () => void }) {
  const press = (event: MouseEvent) => {
    const pressed = event.target instanceof Element ? event.target.closest("button") : null;
    if (event.defaultPrevented || pressed?.type !== "submit") return;
    event.preventDefault();
    onSend();
  };
  return (
    <form class="view" noValidate onClick={press}>
      {children}
    </form>
  );
}

const troubles = {
  network: "network_trouble",
  limited: "limited_trouble",
  refused: "refused_trouble",
  lost: "lost_trouble",
  taken: "refused_trouble",
  foreign: "unavailable_trouble",
  unavailable: "unavailable_trouble",
} as const satisfies Record<Failure["kind"], string>;

/** The view's error and a retry button. */
export function Trouble({ ui: { s, t, send } }: { ui: Ui }) {
  const trouble = s.trouble;
  return (
    <div role="alert">
      {trouble && (
        <div class="notice bad">
          <p>{t.say(troubles[trouble.failure.kind])}</p>
          {trouble.failure.requestId && (
            <p class="small">
              {t.say("reference")}: {trouble.failure.requestId}
            </p>
          )}
          {trouble.retry && (
            <div>
              <Quiet onClick={() => send({ type: "retry" })}>{t.say("try_again")}</Quiet>
            </div>
          )}
        </div>
      )}
    </div>
  );
}

/** Returns a hue for a name, so that different institutions' initials have different colours. */
function hue(name: string): string {
  let hash = 0;
  for (const char of name) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 360;
  return String(hash);
}

/** An institution's logo. If the logo is missing or fails to load, shows the institution's initials on a colour derived from its name. */
export function Logo({ src, name }: { src: string; name: string }) {
  const letters = name
    .split(/\s+/)
    .map((word) => word.charAt(0))
    .filter((letter) => /\p{L}/u.test(letter))
    .slice(0, 2)
    .join("");
  return (
    <span class="logo" aria-hidden="true" style={{ "--hue": hue(name) }}>
      {letters.toUpperCase()}
      {isHttps(src) && (
        <img src={src} alt="" loading="lazy" decoding="async" referrerPolicy="no-referrer" onError={drop} />
      )}
    </span>
  );
}

/** Sender and receiver of the records. */
export function Pair({ ui: { s }, name, logo }: { ui: Ui; name: string; logo: string }) {
  return (
    <div class="both" aria-hidden="true">
      <Logo src={logo} name={name} />
      <i />
      <Logo src={s.org?.logo_uri ?? ""} name={s.org?.name ?? ""} />
    </div>
  );
}

/** Hides a picture that fails to load, revealing the content beneath. */
export function drop(event: { currentTarget: HTMLElement }): void {
  event.currentTarget.hidden = true;
}

/** Reports whether a URL from records or settings is https. */
export function isHttps(address: string): boolean {
  return address.startsWith("https://") && URL.canParse(address);
}
