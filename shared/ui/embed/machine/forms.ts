/** E-mail and its code, the request for a missing institution, and support. */
import type { Answer, Calls, Failure } from "../api/records.ts";
import type { Effect, Next } from "./message.ts";
import type { State } from "./state.ts";

/** As long as the server waits; the patient's clock may be wrong. Milliseconds. */
const resendPause = 30_000;

function wrong(s: State, failure: Failure, retry?: { type: "resend" }): Next {
  return [{ ...s, busy: false, trouble: { failure, retry: failure.kind === "network" ? retry : undefined } }];
}

export function sendCode(s: State, email: string): Next {
  if (s.busy) return [s];
  const question: Effect = { do: "ask", key: "form", ask: { call: "codes", ask: { email } } };
  return [{ ...s, email, emailToken: undefined, busy: true, trouble: undefined }, question];
}

/** A code is on its way; another one can be asked for a while later. */
export function codeSent(s: State, answer: Answer<Calls["codes"]["data"]>, now: number): Next {
  if (!answer.ok) return wrong(s, answer.failure, { type: "resend" });
  const resendAt = Date.parse(answer.data.resend_after);
  const ms = Number.isNaN(resendAt) ? resendPause : Math.min(Math.max(0, resendAt - now), resendPause);
  const next: State = { ...s, view: "code", busy: false, trouble: undefined, canResend: false, verification: { id: answer.data.verification_id, resendAt: now + ms } };
  return [next, { do: "wait", key: "resend", ms, then: { type: "resendable" } }];
}

export function checkCode(s: State, code: string): Next {
  if (s.busy || !s.verification) return [s];
  const question: Effect = { do: "ask", key: "form", ask: { call: "verify", ask: { verification_id: s.verification.id, code } } };
  return [{ ...s, busy: true, trouble: undefined }, question];
}

export function send(s: State, form: "support" | "missing", email: string): Next {
  if (s.busy) return [s];
  const { name, website, address, subject, body } = s.draft;
  const email_token = s.emailToken && s.email === email ? s.emailToken : undefined;
  const ask =
    form === "support"
      ? ({ call: "support", ask: { email, name, subject, body, email_token } } as const)
      : ({ call: "missing", ask: { email, name, website: website || undefined, street_address: address || undefined } } as const);
  const next: State = { ...s, email: s.email || email, busy: true, trouble: undefined };
  return [next, { do: "ask", key: "form", ask }];
}

export function sent(s: State, answer: Answer<undefined>): Next {
  if (!answer.ok) return wrong(s, answer.failure);
  const draft = { ...s.draft, name: "", website: "", address: "", subject: "", body: "" };
  return [{ ...s, busy: false, sent: true, draft }];
}
