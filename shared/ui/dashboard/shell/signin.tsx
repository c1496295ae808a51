/** Sign-in, for users who have no session or have not yet proved their second factor. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Api } from "../api/api.ts";
import type { DashboardSession } from "../api/records.ts";
import { Button, Notice, Title } from "../parts/controls.tsx";
import { Email, Generator, Passkey, RecoveryCode } from "./proof.tsx";

interface SignInProps {
  api: Api;
  session: DashboardSession | undefined;
  /** Whether the user followed an invitation. */
  invited: boolean;
  /** Whether a session has expired whose screens are still on the page. */
  expired: boolean;
  enter: (session: DashboardSession | undefined) => void;
}

export function SignIn({ api, session, invited, expired, enter }: SignInProps): JSX.Element {
  return (
    <main class="gate">
      <p class="brand">Recordbridge</p>
      <div class="panel">
        {session === undefined ? (
          <First api={api} invited={invited} expired={expired} enter={enter} />
        ) : (
          <Second api={api} session={session} enter={enter} />
        )}
      </div>
    </main>
  );
}

function First({ api, invited, expired, enter }: Omit<SignInProps, "session">): JSX.Element {
  return (
    <>
      <Title
        lead={
          invited
            ? "Sign in with the email address that received the invitation."
            : "No password needed. New here? We’ll create your account."
        }
      >
        Sign in
      </Title>
      {expired && (
        <Notice>
          <p role="status">Your session has expired. After you sign in, you’ll find what you typed on the page.</p>
        </Notice>
      )}
      <Email api={api} done={enter} />
      <p class="or">or</p>
      <Passkey api={api} done={enter} />
      <p class="help">Use your work email address. Personal email addresses aren’t accepted.</p>
    </>
  );
}

function Second({
  api,
  session,
  enter,
}: {
  api: Api;
  session: DashboardSession;
  enter: SignInProps["enter"];
}): JSX.Element {
  const { totp, passkeys } = session.account;
  const [lost, setLost] = useState(false);
  return (
    <>
      <Title lead="Your account requires a second factor.">One more step</Title>
      {lost && <RecoveryCode api={api} done={enter} />}
      {!lost && passkeys.length > 0 && <Passkey api={api} done={enter} />}
      {!lost && totp && passkeys.length > 0 && <p class="or">or</p>}
      {!lost && totp && <Generator api={api} done={enter} />}
      <div class="row">
        <Button kind="quiet" onClick={() => setLost(!lost)}>
          {lost ? "Use your second factor" : "Use a recovery code"}
        </Button>
      </div>
      <div class="row">
        <Button kind="quiet" onClick={() => void api.remove("session").finally(() => enter(undefined))}>
          Use a different account
        </Button>
      </div>
    </>
  );
}
