/** The patient's requests: a missing institution, and help. */
import type { Word } from "../../kit/words/language.ts";
import { Button, emailInput, Field, Form, Title, Trouble } from "./parts.tsx";
import { orgName, type Ui } from "./ui.ts";

const plain = { autocomplete: "off", maxLength: 200 } as const;

export function Missing({ ui }: { ui: Ui }) {
  const { s, t, send } = ui;
  if (s.sent)
    return <Sent ui={ui} title="missing_sent_title" text={t.say("missing_sent_text", { org: orgName(ui) })} />;
  return (
    <Form onSend={() => send({ type: "send" })}>
      <Title lead={t.say("missing_lead", { org: orgName(ui) })}>{t.say("missing_title")}</Title>
      <Field ui={ui} id="hospital" label={t.say("missing_name")} input={plain} />
      <Field ui={ui} id="website" label={t.say("missing_website")} optional input={{ ...plain, inputMode: "url" }} />
      <Field ui={ui} id="address" label={t.say("missing_address")} optional input={plain} />
      <Field ui={ui} id="email" label={t.say("email")} input={emailInput} />
      <Trouble ui={ui} />
      <Button submit disabled={s.busy}>
        {t.say("send")}
      </Button>
    </Form>
  );
}

export function Support({ ui }: { ui: Ui }) {
  const { s, t, send } = ui;
  const reference = s.ending?.requestId;
  if (s.sent)
    return (
      <Sent
        ui={ui}
        title="support_sent_title"
        text={t.say("support_sent_text", { org: orgName(ui), email: s.draft.email })}
      />
    );
  return (
    <Form onSend={() => send({ type: "send" })}>
      <Title lead={t.say("support_lead", { org: orgName(ui) })}>{t.say("support_title")}</Title>
      <Field ui={ui} id="name" label={t.say("support_name")} input={{ autocomplete: "name", maxLength: 200 }} />
      <Field ui={ui} id="email" label={t.say("email")} input={emailInput} />
      <Field ui={ui} id="subject" label={t.say("support_subject")} input={plain} />
      <Field ui={ui} id="body" label={t.say("support_body")} rows />
      {reference && <p class="small soft">{t.say("support_reference", { id: reference })}</p>}
      <Trouble ui={ui} />
      <Button submit disabled={s.busy}>
        {t.say("send")}
      </Button>
    </Form>
  );
}

function Sent({ ui: { t, send }, title, text }: { ui: Ui; title: Word; text: string }) {
  return (
    <div class="view">
      <Title mark="check" tone="good" lead={text}>
        {t.say(title)}
      </Title>
      <div class="end">
        <Button onClick={() => send({ type: "back" })}>{t.say("continue")}</Button>
      </div>
    </div>
  );
}
