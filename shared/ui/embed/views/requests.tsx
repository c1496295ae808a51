/** What a patient can ask for: an institution that is missing, and help. */
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { Word } from "../../kit/words/language.ts";
import { isEmail } from "./begin.tsx";
import { Button, Field, Form, Title, Trouble } from "./parts.tsx";
import { orgName, type Ui } from "./ui.ts";

const maxText = 200;

export function Missing({ ui }: { ui: Ui }) {
  const { s, t } = ui;
  const draft = useDraft(ui, "missing", ["name"]);
  if (s.sent) return <Sent ui={ui} title="missing_sent_title" text={t.say("missing_sent_text")} />;
  return (
    <Form valid={draft.valid} onSend={draft.send}>
      <Title lead={t.say("missing_lead", { org: orgName(ui) })}>{t.say("missing_title")}</Title>
      <Field id="name" label={t.say("missing_name")} {...draft.field("name")} input={{ autocomplete: "off", maxLength: maxText }} />
      <Field id="website" label={t.say("missing_website")} optional={t.say("optional")} {...draft.field("website")} input={{ type: "text", inputMode: "url", autocomplete: "off", maxLength: maxText }} />
      <Field id="address" label={t.say("missing_address")} optional={t.say("optional")} {...draft.field("address")} input={{ autocomplete: "off", maxLength: maxText }} />
      {draft.email}
      <Trouble ui={ui} />
      <Button submit disabled={s.busy}>
        {t.say("send")}
      </Button>
    </Form>
  );
}

export function Support({ ui }: { ui: Ui }) {
  const { s, t } = ui;
  const draft = useDraft(ui, "support", ["name", "subject", "body"]);
  const reference = s.ending?.requestId;
  if (s.sent) return <Sent ui={ui} title="support_sent_title" text={t.say("support_sent_text", { org: orgName(ui), email: s.email })} />;
  return (
    <Form valid={draft.valid} onSend={draft.send}>
      <Title lead={t.say("support_lead", { org: orgName(ui) })}>{t.say("support_title")}</Title>
      <Field id="name" label={t.say("support_name")} {...draft.field("name")} input={{ autocomplete: "name", maxLength: maxText }} />
      {draft.email}
      <Field id="subject" label={t.say("support_subject")} {...draft.field("subject")} input={{ autocomplete: "off", maxLength: maxText }} />
      <Field id="body" label={t.say("support_body")} {...draft.field("body")} rows />
      {reference && <p class="small soft">{t.say("support_reference", { id: reference })}</p>}
      <Trouble ui={ui} />
      <Button submit disabled={s.busy}>
        {t.say("send")}
      </Button>
    </Form>
  );
}

type DraftKey = keyof Ui["s"]["draft"];

/** The fields of a form, judged from the moment that it was first sent. */
function useDraft({ s, t, send }: Ui, form: "support" | "missing", needed: DraftKey[]) {
  const [email, setEmail] = useState(s.email);
  const [judged, setJudged] = useState(false);
  const empty = (key: DraftKey) => needed.includes(key) && s.draft[key].trim() === "";
  const valid = isEmail(email) && !needed.some(empty);
  const error = judged && !isEmail(email) ? t.say("email_wrong") : undefined;
  return {
    valid,
    send: () => {
      setJudged(true);
      if (valid) send({ type: "send", form, email: email.trim() });
    },
    field: (key: DraftKey) => ({
      value: s.draft[key],
      onInput: (value: string) => send({ type: "draft", draft: { [key]: value } }),
      error: judged && empty(key) ? t.say("required") : undefined,
    }),
    email: <Field id="email" label={t.say("email")} value={email} onInput={setEmail} error={error} input={{ type: "email", autocomplete: "email", inputMode: "email", spellcheck: false, maxLength: 254 }} />,
  };
}

function Sent({ ui: { t, send }, title, text }: { ui: Ui; title: Word; text: ComponentChildren }) {
  return (
    <div class="view">
      <Title mark="check" tone="good" lead={text}>
        {t.say(title)}
      </Title>
      <Button onClick={() => send({ type: "back" })}>{t.say("continue")}</Button>
    </div>
  );
}
