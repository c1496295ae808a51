/** E-mail and its code, the request for a missing institution, and support. */
import type { Answer, Calls, Failure } from "../api/records.ts";
import type { Draft, Effect } from "./message.ts";
import type { Next, State } from "./state.ts";

/** As long as the server waits; the patient's clock may be wrong. Milliseconds. */
const resendPause = 30_000;

/** As long as the server takes a proof of an address for one, whatever the patient's clock says. Milliseconds. */
const proofLife = 60 * 60_000;

/**
 * The address as the server takes it: a dot-atom, and a host name, in Punycode where that is international, which not every browser writes by itself.
 * Empty where the text is none.
 */
export function addressOf(text: string): string {
  const [, local = "", domain = ""] = /^([\w!#$%&'*+/=?^`{|}~.-]+)@([^\s@/\\:?#%]+)$/.exec(text.trim()) ?? [];
  const host = URL.canParse(`http://${domain}`) ? new URL(`http://${domain}`).hostname : "";
  const isRight = /^[^.]+(\.[^.]+)*$/.test(local) && /^([a-z\d]([a-z\d-]*[a-z\d])?\.)+[a-z]([a-z\d-]*[a-z\d])?$/.test(host);
  return isRight ? `${local}@${host}` : "";
}

/** Whether a field of a form holds what it needs. Website and address may be left out, of another form the rest is not asked. */
export function isRight({ draft }: State, field: keyof Draft): boolean {
  if (field === "email") return addressOf(draft.email) !== "";
  if (field === "code") return /^\d{6}$/.test(draft.code);
  return field === "website" || field === "address" || draft[field].trim() !== "";
}

const fields = { email: ["email"], code: ["code"], missing: ["hospital", "email"], support: ["name", "email", "subject", "body"] } as const;

/** Only a form that is right is sent; of one that is not the view shows what is wrong. */
function judge(s: State, form: keyof typeof fields, send: () => Next): Next {
  if (s.busy) return [s];
  return fields[form].every((field) => isRight(s, field)) ? send() : [{ ...s, judged: s.judged + 1 }];
}

function failed(s: State, failure: Failure, retry?: { type: "resend" }): Next {
  return [{ ...s, busy: false, trouble: { failure, retry: failure.kind === "network" ? retry : undefined } }];
}

export function submitEmail(s: State): Next {
  return judge(s, "email", () => sendCode(s, addressOf(s.draft.email)));
}

export function sendCode(s: State, email: string): Next {
  if (s.busy) return [s];
  const question: Effect = { do: "ask", key: "form", ask: { call: "codes", ask: { email } } };
  return [{ ...s, email, proof: undefined, busy: true, trouble: undefined }, question];
}

/** A code is on its way; another one can be asked for a while later. */
export function codeSent(s: State, answer: Answer<Calls["codes"]["data"]>, now: number): Next {
  if (!answer.ok) return failed(s, answer.failure, { type: "resend" });
  const resendAt = Date.parse(answer.data.resend_after);
  const ms = Number.isNaN(resendAt) ? resendPause : Math.min(Math.max(0, resendAt - now), resendPause);
  const next: State = { ...s, view: "code", busy: false, judged: 0, trouble: undefined, canResend: false, draft: { ...s.draft, code: "" }, verification: { id: answer.data.verification_id, resendAt: now + ms } };
  return [next, { do: "wait", key: "resend", ms, then: { type: "resendable" } }];
}

export function checkCode(s: State): Next {
  const verification = s.verification;
  if (!verification) return [s];
  return judge(s, "code", () => {
    const ask = { verification_id: verification.id, code: s.draft.code };
    return [{ ...s, busy: true, trouble: undefined }, { do: "ask", key: "form", ask: { call: "verify", ask } }];
  });
}

/** The address is the patient's, for a while. */
export function proven(s: State, { email_token: token, expires_at }: Calls["verify"]["data"], now: number): State {
  const ms = Date.parse(expires_at) - now;
  return { ...s, busy: false, proof: { token, until: now + (ms > 0 ? Math.min(ms, proofLife) : proofLife) } };
}

/** A proof that the server would take; undefined where there is none, or none any more. */
export function proofOf(s: Pick<State, "proof">, now: number): string | undefined {
  return s.proof && now < s.proof.until ? s.proof.token : undefined;
}

export function send(s: State, now: number): Next {
  if (s.view !== "support" && s.view !== "missing") return [s];
  const { view: form, draft } = s;
  return judge(s, form, () => {
    const email = addressOf(draft.email);
    const { hospital, name, website, address, subject, body } = draft;
    const from = { email, email_token: s.email === email ? proofOf(s, now) : undefined };
    const health_system = (s.tefca ? undefined : (s.ending?.target ?? s.target ?? s.institution)?.name) || undefined;
    const reference = s.ending?.requestId ? `\n\n[${s.ending.requestId}]` : "";
    const ask =
      form === "support"
        ? ({ call: "support", ask: { ...from, name, subject, body: body + reference, health_system } } as const)
        : ({ call: "missing", ask: { ...from, name: hospital, website: website || undefined, street_address: address || undefined } } as const);
    return [{ ...s, busy: true, trouble: undefined }, { do: "ask", key: "form", ask }];
  });
}

export function sent(s: State, answer: Answer<undefined>): Next {
  if (!answer.ok) return failed(s, answer.failure);
  const draft = { email: s.draft.email, code: "", hospital: "", name: "", website: "", address: "", subject: "", body: "" };
  return [{ ...s, busy: false, sent: true, judged: 0, draft }];
}
