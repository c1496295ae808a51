/** The first steps: what is shared and with whom, the email address, and the code. */
import type { Word } from "../../kit/words/language.ts";
import { Icon, type IconName } from "./icons.tsx";
import { Button, emailInput, Field, Form, isHttps, Out, Quiet, Title, Trouble } from "./parts.tsx";
import { orgName, type Ui } from "./ui.ts";

const points: [IconName, Word, Word][] = [
  ["list", "splash_shared", "splash_shared_text"],
  ["lock", "splash_password", "splash_password_text"],
  ["hand", "splash_stop", "splash_stop_text"],
];

export function Splash({ ui }: { ui: Ui }) {
  const { t } = ui;
  const org = orgName(ui);
  return (
    <div class="view">
      <Title lead={t.say("splash_lead", { org })}>{t.say("splash_title", { org })}</Title>
      <Points ui={ui} points={points} />
      <Agree ui={ui} />
    </div>
  );
}

/** The points of the introduction, each with an icon, a heading and a sentence. */
export function Points<W extends string>({
  ui,
  points,
}: {
  ui: Ui<W | Word>;
  points: [IconName, W | Word, W | Word][];
}) {
  const org = orgName(ui);
  return (
    <ul class="points">
      {points.map(([icon, head, text]) => (
        <li key={head}>
          <Icon name={icon} />
          <h2>{ui.t.say(head)}</h2>
          <p>{ui.t.say(text, { org })}</p>
        </li>
      ))}
    </ul>
  );
}

export function Agree({ ui }: { ui: Ui }) {
  return (
    <div class="below stack">
      <Agreement ui={ui} />
      <Button onClick={() => ui.send({ type: "agree" })}>{ui.t.say(agreement(ui) ? "agree" : "continue")}</Button>
    </div>
  );
}

/** Returns the agreement text for the organisation's documents, or undefined without terms and privacy policy. */
function agreement({ s }: Ui): Word | undefined {
  const terms = isHttps(s.org?.terms_uri ?? "");
  const privacy = isHttps(s.org?.privacy_policy_uri ?? "");
  if (terms && privacy) return "splash_agree";
  if (privacy) return "splash_agree_privacy";
  return terms ? "splash_agree_terms" : undefined;
}

/** The agreement with links to the organisation's documents, if the organisation has documents. */
export function Agreement({ ui }: { ui: Ui }) {
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

export function Email({ ui }: { ui: Ui }) {
  const { s, t, send } = ui;
  return (
    <Form onSend={() => send({ type: "email" })}>
      <Title lead={t.say("email_lead")}>{t.say("email_title")}</Title>
      <Trouble ui={ui} />
      <Field ui={ui} id="email" label={t.say("email")} input={emailInput} />
      <Button submit disabled={s.busy}>
        {t.say("email_send")}
      </Button>
    </Form>
  );
}

export function Code({ ui }: { ui: Ui }) {
  const { s, t, send } = ui;
  const refused = s.trouble?.failure.kind === "refused" || s.trouble?.failure.kind === "lost";
  const input = { class: "code", type: "text", inputMode: "numeric", autocomplete: "one-time-code" } as const;
  return (
    <Form onSend={() => send({ type: "code" })}>
      <Title lead={t.say("code_lead", { email: s.email })}>{t.say("code_title")}</Title>
      {!refused && <Trouble ui={ui} />}
      <Field ui={ui} id="code" label={t.say("code")} error={refused ? t.say("code_wrong") : undefined} input={input} />
      <Button submit disabled={s.busy}>
        {t.say("continue")}
      </Button>
      <div class="row">
        {s.canResend ? (
          <Quiet onClick={() => send({ type: "resend" })}>{t.say("code_again")}</Quiet>
        ) : (
          <p class="small soft">{t.say("code_wait")}</p>
        )}
        <Quiet onClick={() => send({ type: "back" })}>{t.say("code_other")}</Quiet>
      </div>
    </Form>
  );
}
