/** Proofs of identity: to sign in, as a second factor, and before sensitive actions. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Api } from "../api/api.ts";
import type { SentCode, DashboardSession } from "../api/records.ts";
import { useAction } from "../app/app.ts";
import { Button, Field, Form, Notice, Trouble } from "../parts/controls.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { hasPasskeys, use } from "../api/passkey.ts";
import type { RequestJson } from "../api/passkey.ts";

interface ProofProps {
  api: Api;
  done: (session: DashboardSession) => void;
}

export async function byPasskey(api: Api): Promise<DashboardSession> {
  const { options } = await api.post<{ options: RequestJson }>("session/passkey/options");
  return api.post<DashboardSession>("session/passkey", { response: await use(options) });
}

const codeInput = {
  inputMode: "numeric",
  autocomplete: "one-time-code",
  required: true,
  maxLength: 12,
  pattern: "\\s*(\\d\\s*){6}",
} as const;

const digits = (text: string): string => text.replace(/\D/g, "").slice(0, 6);

export function Passkey({ api, done }: ProofProps): JSX.Element | null {
  const action = useAction();
  if (!hasPasskeys()) return null;
  return (
    <div class="form">
      <Button busy={action.busy} onClick={() => action.run(async () => done(await byPasskey(api)))}>
        Use a passkey
      </Button>
      <Trouble failure={action.failure} />
    </div>
  );
}

/** A form for six digits from an authenticator app. */
export function Generator({ api, done }: ProofProps): JSX.Element {
  const [code, setCode] = useState("");
  const action = useAction();
  return (
    <Form
      action={action}
      send="Continue"
      does={async () => done(await api.post<DashboardSession>("session/totp", { code: digits(code) }))}
    >
      <Field
        label="Authenticator code"
        value={code}
        set={setCode}
        {...codeInput}
        help="Enter the six-digit code from your authenticator app."
      />
    </Form>
  );
}

/** A form for a recovery code, which replaces the second factor. */
export function RecoveryCode({ api, done }: ProofProps): JSX.Element {
  const [code, setCode] = useState("");
  const action = useAction();
  return (
    <Form
      action={action}
      send="Sign in"
      does={async () => done(await api.post<DashboardSession>("session/recovery-code", { code: code.trim() }))}
    >
      <Field
        label="Recovery code"
        value={code}
        set={setCode}
        first
        required
        maxLength={40}
        help="Enter a recovery code that you saved when you set up your second factor. Each code works only once."
      />
    </Form>
  );
}

/** A form for an email address and then for the six-digit code sent to the address. */
export function Email({ api, done, email: given = "" }: ProofProps & { email?: string }): JSX.Element {
  const [email, setEmail] = useState(given);
  const [code, setCode] = useState("");
  const [sent, setSent] = useState<SentCode>();
  const action = useAction();
  const send = async (): Promise<void> => setSent(await api.post<SentCode>("session/codes", { email: email.trim() }));
  if (sent === undefined) {
    return (
      <Form action={action} send="Send code" does={send}>
        <Field
          label="Work email"
          type="email"
          autocomplete="email"
          inputMode="email"
          required
          maxLength={254}
          value={email}
          set={setEmail}
          readOnly={given !== ""}
        />
      </Form>
    );
  }
  const check = async (): Promise<void> =>
    done(
      await api.post<DashboardSession>("session", {
        email: email.trim(),
        verification_id: sent.verification_id,
        code: digits(code),
      }),
    );
  return (
    <>
      <Form action={action} send="Continue" does={check}>
        <Notice>
          <p role="status">
            If <strong>{email.trim()}</strong> is eligible for an account, we’ve sent it a six-digit code. The code
            expires in a few minutes.
          </p>
        </Notice>
        <Field
          label="Code"
          value={code}
          set={setCode}
          first
          {...codeInput}
          help="The email can take a minute to arrive. If you don’t see the email, check your spam folder."
        />
      </Form>
      <div class="row">
        <Button kind="quiet" busy={action.busy} onClick={() => action.run(send)}>
          Send new code
        </Button>
        <Button kind="quiet" onClick={() => setSent(undefined)}>
          Use another email address
        </Button>
      </div>
    </>
  );
}

/** Prompts the user for a fresh proof before a sensitive action. */
export function Proof({
  api,
  session,
  done,
  close,
}: ProofProps & { session: DashboardSession; close: () => void }): JSX.Element {
  const { email, totp, passkeys } = session.account;
  return (
    <Dialog title="Confirm it’s you" close={close}>
      <p class="soft">Confirm your identity to continue. We won’t ask again for 15 minutes.</p>
      {passkeys.length > 0 && <Passkey api={api} done={done} />}
      {totp && <Generator api={api} done={done} />}
      {!totp && passkeys.length === 0 && <Email api={api} done={done} email={email} />}
      <div class="row">
        <Button onClick={close}>Cancel</Button>
      </div>
    </Dialog>
  );
}
