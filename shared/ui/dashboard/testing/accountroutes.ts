/** The fake's routes of sessions and accounts. */
import { before, id, ORG } from "./ids.ts";
import { stop, type Answer } from "./answers.ts";
import type { World } from "./world.ts";

/** Returns the routes of sessions, accounts and new organisations. */
export function accountRoutes(fake: { world: World; wantsProof: boolean }): [string, Answer][] {
  const { world: w } = fake;
  const session = (): object => (w.signedIn ? w.session : stop(401, "svc_session_required", "Sign in to continue."));
  const enter = (): object => {
    w.signedIn = true;
    fake.wantsProof = false;
    return w.session;
  };
  const sent = { verification_id: id(7), expires_at: before(-10), resend_after: before(-1) };
  return [
    ["GET session", session],
    [
      "POST session/codes",
      ({ body }) =>
        String(body["email"]).endsWith("@gmail.com")
          ? stop(400, "svc_invalid_request", "Use your work e-mail address; personal addresses aren't accepted.")
          : sent,
    ],
    [
      "POST session",
      ({ body }) =>
        body["code"] === "123456" ? enter() : stop(400, "svc_invalid_request", "The code is wrong or has expired."),
    ],
    ["POST session/totp", enter],
    [
      "DELETE sessions?",
      () => {
        w.signedIn = false;
      },
    ],
    [
      "POST account/totp",
      () => ({
        secret: "JBSWY3DPEHPK3PXP",
        uri: "otpauth://totp/Recordbridge:ada@alder.example?issuer=Recordbridge&secret=JBSWY3DPEHPK3PXP",
      }),
    ],
    [
      "PUT account/totp",
      () => {
        const isFirst = !w.session.account.totp && w.session.account.passkeys.length === 0;
        w.session.account.totp = true;
        return isFirst ? { ...w.session, recovery_codes: codes(w) } : w.session;
      },
    ],
    ["POST account/recovery-codes", () => ({ recovery_codes: codes(w) })],
    [
      "POST session/recovery-code",
      ({ body }) =>
        body["code"] === "0000-0000-0000-0000"
          ? stop(
              400,
              "svc_invalid_request",
              "This recovery code is wrong or already used. Check it, or use another one.",
            )
          : enter(),
    ],
    [
      "DELETE account/totp",
      () => {
        w.session.account.totp = false;
        return w.session;
      },
    ],
    ["POST account/email", () => sent],
    [
      "DELETE account/passkeys/:id",
      () => {
        w.session.account.passkeys = [];
        return w.session;
      },
    ],
    ["POST invitations", () => stop(404, "svc_not_found", "This invitation is no longer valid.")],
    [
      "POST organisations",
      ({ body }) => {
        w.organisation.name = String(body["name"]);
        w.session.organisations.push({
          id: ORG,
          name: w.organisation.name,
          role: "owner",
          plan: "free",
          status: "active",
        });
        return { id: ORG };
      },
    ],
  ];
}

function codes(w: World): string[] {
  w.session.account.recovery_codes_left = 10;
  return Array.from({ length: 10 }, (_, at) => `7H2K-9MQX-4RTV-${1000 + at}`);
}
