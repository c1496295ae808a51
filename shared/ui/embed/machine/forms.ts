/** The email step, the missing-institution request, and the support request. */
import type { Answer, Calls, Failure } from "../api/records.ts";
import type { Draft, Effect } from "./message.ts";
import type { Next, State } from "./state.ts";

/** The time in milliseconds until the server sends another code. The patient's clock may be wrong. */
const resendPause = 30_000;

/** The time in milliseconds for which the server accepts an email proof, regardless of the patient's clock. */
const proofLife = 60 * 60_000;

/**
 * Normalises an email address for the server: a dot-atom and a host name. An international host name is converted to
 * Punycode, which some browsers don't do. Returns "" if the text is not an address.
 */
export function addressOf(text: string): string {
  const [, local = "", domain = ""] = /^([\w!#$%&'*+/=?^`{|}~.-]+)@([^\s@/\\:?#%]+)$/.exec(text.trim()) ?? [];
  const host = URL.canParse(`http://${domain}`) ? new URL(`http://${domain}`).hostname : "";
  const isRight =
    /^[^.]+(\.[^.]+)*$/.test(local) && /^([a-z\d]([a-z\d-]*[a-z\d])?\.)+[a-z]([a-z\d-]*[a-z\d])?$/.test(host);
  return isRight ? `${local}@${host}` : "";
}

/** Reports whether a form field is valid. The website and address fields are optional. */
export function isRight({ draft }: State, field: keyof Draft): boolean {
  if (field === "email") return addressOf(draft.email) !== "";
  if (field === "code") return /^\d{6}$/.test(draft.code);
  return field === "website" || field === "address" || draft[field].trim() !== "";
}

const fields = {
  email: ["email"],
  code: ["code"],
  missing: ["hospital", "email"],
  support: ["name", "email", "subject", "body"],
} as const;

/** Sends a form if it is valid. If the form is invalid, the view shows the errors. */
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

/** Handles the response after a code was sent. The patient can request another code later. */
export function codeSent(s: State, answer: Answer<Calls["codes"]["data"]>, now: number): Next {
  if (!answer.ok) return failed(s, answer.failure, { type: "resend" });
  const resendAt = Date.parse(answer.data.resend_after);
  const ms = Number.isNaN(resendAt) ? resendPause : Math.min(Math.max(0, resendAt - now), resendPause);
  const next: State = {
    ...s,
    view: "code",
    busy: false,
    judged: 0,
    trouble: undefined,
    canResend: false,
    draft: { ...s.draft, code: "" },
    verification: { id: answer.data.verification_id, resendAt: now + ms },
  };
  return [next, { do: "wait", key: "resend", ms, then: { type: "resendable" } }];
}

export function checkCode(s: State): Next {
  const verification = s.verification;
  if (!verification) return [s];
  return judge(s, "code", () => {
    const ask = { verification_id: verification.id, code: s.draft.code };
    return [
      { ...s, busy: true, trouble: undefined },
      { do: "ask", key: "form", ask: { call: "verify", ask } },
    ];
  });
}

/** Stores the proof that the address is confirmed. The proof expires. */
export function proven(s: State, { email_token: token, expires_at }: Calls["verify"]["data"], now: number): State {
  const ms = Date.parse(expires_at) - now;
  return { ...s, busy: false, proof: { token, until: now + (ms > 0 ? Math.min(ms, proofLife) : proofLife) } };
}

/** Returns an email proof that the server would accept, or undefined. */
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
        : ({
            call: "missing",
            ask: { ...from, name: hospital, website: website || undefined, street_address: address || undefined },
          } as const);
    return [
      { ...s, busy: true, trouble: undefined },
      { do: "ask", key: "form", ask },
    ];
  });
}

export function sent(s: State, answer: Answer<undefined>): Next {
  if (!answer.ok) return failed(s, answer.failure);
  const draft = {
    email: s.draft.email,
    code: "",
    hospital: "",
    name: "",
    website: "",
    address: "",
    subject: "",
    body: "",
  };
  return [{ ...s, busy: false, sent: true, judged: 0, draft }];
}
