/** The first steps: what is shared and with whom, the e-mail address, its code. */
import { useState } from "preact/hooks";
import type { Word } from "../../kit/words/language.ts";
import { Icon, type IconName } from "./icons.tsx";
import { Button, Field, Form, isHttps, Out, Quiet, Title, Trouble } from "./parts.tsx";
import { orgName, type Ui } from "./ui.ts";

const points: [IconName, Word, Word][] = [
  ["list", "splash_shared", "splash_shared_text"],
  ["lock", "splash_password", "splash_password_text"],
  ["hand", "splash_stop", "splash_stop_text"],
];

export function Splash({ ui }: { ui: Ui }) {
  const { t, send } = ui;
  const org = orgName(ui);
  return (
    <div class="view">
      <Title lead={t.say("splash_lead", { org })}>{t.say("splash_title", { org })}</Title>
      <ul class="points">
        {points.map(([icon, head, text]) => (
          <li key={head}>
            <Icon name={icon} />
            <h2>{t.say(head)}</h2>
            <p>{t.say(text, { org })}</p>
          </li>
        ))}
      </ul>
      <div class="stack">
        <Agreement ui={ui} />
        <Button onClick={() => send({ type: "agree" })}>{t.say(agreement(ui) ? "agree" : "continue")}</Button>
      </div>
    </div>
  );
}

/** The sentence for what the organisation has; without terms and privacy policy there is nothing to agree to. */
function agreement({ s }: Ui): Word | undefined {
  const terms = isHttps(s.org?.terms_uri ?? "");
  const privacy = isHttps(s.org?.privacy_policy_uri ?? "");
  if (terms && privacy) return "splash_agree";
  if (privacy) return "splash_agree_privacy";
  return terms ? "splash_agree_terms" : undefined;
}

function Agreement({ ui }: { ui: Ui }) {
  const { s, t } = ui;
  const sentence = agreement(ui);
  if (!sentence) return null;
  const part = (name: string) => {
    if (name === "org") return orgName(ui);
    const href = name === "terms" ? s.org?.terms_uri : s.org?.privacy_policy_uri;
    return (
      <Out href={href ?? ""} t={t}>
        {t.say(name === "terms" ? "terms" : "privacy")}
      </Out>
    );
  };
  return <p class="small soft">{t.parts(sentence).map((text, i) => (i % 2 ? part(text) : text))}</p>;
}

/** One at-sign with something around it and a dot behind: the server and the letter itself judge the rest. */
export function isEmail(text: string): boolean {
  return /^[^\s@]+@[^\s@]+\.[^\s@.]+$/.test(text.trim());
}

export function Email({ ui }: { ui: Ui }) {
  const { s, t, send } = ui;
  const [email, setEmail] = useState(s.email);
  const [judged, setJudged] = useState(false);
  const valid = isEmail(email);
  const onSend = () => {
    setJudged(true);
    if (valid) send({ type: "email", email: email.trim() });
  };
  const input = { type: "email", autocomplete: "email", inputMode: "email", spellcheck: false, maxLength: 254 } as const;
  return (
    <Form valid={valid} onSend={onSend}>
      <Title lead={t.say("email_lead")}>{t.say("email_title")}</Title>
      <Trouble ui={ui} />
      <Field id="email" label={t.say("email")} value={email} onInput={setEmail} error={judged && !valid ? t.say("email_wrong") : undefined} input={input} />
      <Button submit disabled={s.busy}>
        {t.say("email_send")}
      </Button>
    </Form>
  );
}

export function Code({ ui }: { ui: Ui }) {
  const { s, t, send } = ui;
  const [code, setCode] = useState("");
  const [judged, setJudged] = useState(false);
  const valid = code.length === 6;
  const refused = s.trouble?.failure.kind === "refused" || s.trouble?.failure.kind === "lost";
  const onSend = () => {
    setJudged(true);
    if (valid) send({ type: "code", code });
  };
  // A pasted code may have spaces or a dash in it.
  const onInput = (text: string) => setCode(text.replace(/\D/g, "").slice(0, 6));
  const error = refused ? t.say("code_wrong") : judged && !valid ? t.say("code_short") : undefined;
  const input = { class: "code", type: "text", inputMode: "numeric", autocomplete: "one-time-code" } as const;
  return (
    <Form valid={valid} onSend={onSend}>
      <Title lead={t.say("code_lead", { email: s.email })}>{t.say("code_title")}</Title>
      {refused ? null : <Trouble ui={ui} />}
      <Field id="code" label={t.say("code")} value={code} onInput={onInput} error={error} input={input} />
      <Button submit disabled={s.busy}>
        {t.say("continue")}
      </Button>
      <div class="row">
        {s.canResend ? <Quiet onClick={() => send({ type: "resend" })}>{t.say("code_again")}</Quiet> : <p class="small soft">{t.say("code_wait")}</p>}
        <Quiet onClick={() => send({ type: "back" })}>{t.say("code_other")}</Quiet>
      </div>
    </Form>
  );
}
