// What the service sent: webhooks that the inbox received, and mail.
import { address, get } from "./api.js";
import { badge, code, el, facts, moment, more, nothing, one, pre, pretty, row, sync, table } from "./dom.js";

const signatures = { verified: "good", wrong: "bad", unknown: "quiet" };

function typeOf(body) {
  try {
    const parsed = JSON.parse(body);
    return String(parsed.type ?? "");
  } catch {
    return "";
  }
}

export function inbox() {
  const list = table("Webhooks, newest first", ["Received", "Inbox", "Signature", "Type", "Delivery"], "webhooks");
  const foot = el("div");
  const root = el("div", {}, el("h2", {}, "Webhooks received"), list.whole, foot);
  const webhookRow = (w) => row(list, [
    moment(w.received_at), code(w.path.replace(/^\/_local\/inbox\//, "")),
    [badge(w.signature, signatures[w.signature] ?? "quiet"), w.reason && el("small", {}, ` ${w.reason}`)], typeOf(w.body),
    more(`webhook ${w.id}`, code(w.body.slice(0, 80)), () => [
      el("h4", {}, "Body"), pre(pretty(w.body), "Body", `body ${w.id}`),
      el("h4", {}, "Headers"), facts(Object.entries(w.headers).sort().map(([name, value]) => [name, code(value)])),
    ]),
  ]);
  return {
    root,
    async refresh(_, signal) {
      const { webhooks } = await get(["inbox"], {}, signal);
      sync(list.body, webhooks, (w) => w.id, webhookRow);
      one(foot, { empty: webhooks.length === 0 }, (f) => (f.empty ? nothing("No webhooks yet. Webhooks to the sample organisations' inbox arrive here; the inbox URL is in the run file.") : el("p")));
    },
  };
}

export function mail() {
  const list = table("Mail, newest first", ["Sent", "From", "To", "Mail"], "mail");
  const foot = el("div");
  const root = el("div", {}, el("h2", {}, "Mail sent"), el("p", {}, "No email was really sent."), list.whole, foot);
  const mailRow = (m) => row(list, [
    moment(m.at), m.from, (m.to ?? []).join(", "), more(`mail ${m.id}`, m.subject || "(no subject)", () => [
      pre(m.text, "Text", `text ${m.id}`),
      ...(m.has_html ? [el("iframe", { sandbox: true, src: address(["mail", m.id]), title: "HTML version", width: "100%", height: "420" })] : []),
    ]),
  ]);
  return {
    root,
    async refresh(_, signal) {
      const { mails } = await get(["mail"], {}, signal);
      sync(list.body, mails, (m) => m.id, mailRow);
      one(foot, { empty: mails.length === 0 }, (f) => (f.empty ? nothing("No emails yet. Emails about new credentials, and new or failing webhooks, arrive here.") : el("p")));
    },
  };
}
