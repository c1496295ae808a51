/** Passkeys in Chromium (WebAuthn). The tests use a virtual authenticator and the real service. */
import type { CDPSession, Page } from "@playwright/test";
import type { RequestJson } from "../../dashboard/api/passkey.ts";
import type { Run } from "../support/run.ts";
import { expect, test } from "../support/test.ts";
import { Developer, newcomer } from "./support.ts";

/** A platform authenticator whose user is always present. */
class Authenticator {
  readonly #tools: CDPSession;
  readonly #id: string;

  private constructor(tools: CDPSession, id: string) {
    this.#tools = tools;
    this.#id = id;
  }

  static async of(page: Page): Promise<Authenticator> {
    const tools = await page.context().newCDPSession(page);
    await tools.send("WebAuthn.enable");
    const { authenticatorId } = await tools.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    return new Authenticator(tools, authenticatorId);
  }

  async passkeys(): Promise<{ rpId?: string; signCount: number }[]> {
    return (await this.#tools.send("WebAuthn.getCredentials", { authenticatorId: this.#id })).credentials;
  }

  /** Sets whether user verification succeeds. */
  async recognise(isUserVerified: boolean): Promise<void> {
    await this.#tools.send("WebAuthn.setUserVerified", { authenticatorId: this.#id, isUserVerified });
  }
}

/** Signs up and creates a passkey. */
async function withPasskey(
  page: Page,
  run: Run,
  name: string,
): Promise<{ developer: Developer; email: string; authenticator: Authenticator }> {
  const authenticator = await Authenticator.of(page);
  const developer = new Developer(page);
  const email = newcomer();
  await page.goto(`${run.dashboard_url}#/account`);
  await developer.signIn(run, email);
  await developer.type("Passkey name", name);
  await developer.button("Add passkey");
  await developer.saveRecoveryCodes();
  await expect(page.getByRole("table", { name: "Passkeys" })).toContainText(name);
  return { developer, email, authenticator };
}

test("a passkey works for sign-in, as a second factor and for reauthentication, and can be removed", async ({
  page,
  run,
}) => {
  const { developer, email, authenticator } = await withPasskey(page, run, "Work laptop");
  expect(await authenticator.passkeys()).toMatchObject([{ rpId: new URL(run.dashboard_url).hostname }]);
  await developer.type("Passkey name", "The same again");
  await developer.button("Add passkey");
  await expect(
    page.getByRole("alert").filter({ hasText: "This device already has a passkey for your account." }),
  ).toBeVisible();

  await developer.signOut();
  await developer.button("Use a passkey");
  await expect(page.getByRole("heading", { name: "Your account" })).toBeVisible();
  await expect(page.getByText(email).first()).toBeVisible();

  await developer.signOut();
  await developer.signIn(run, email);
  await expect(page.getByRole("heading", { name: "One more step" })).toBeVisible();
  await developer.button("Use a passkey");
  await expect(page.getByRole("heading", { name: "Your account" })).toBeVisible();

  // The service responds like this once the sign-in is 15 minutes old.
  await page.route(
    "**/dashboard/account/totp",
    (route) =>
      route.fulfill({
        status: 403,
        json: { success: false, error: "svc_proof_required", error_description: "Prove again.", request_id: "" },
      }),
    { times: 1 },
  );
  await developer.button("Set up");
  const dialog = page.getByRole("dialog", { name: "Confirm it’s you" });
  await developer.press(dialog.getByRole("button", { name: "Use a passkey" }));
  await expect(page.getByRole("img", { name: "QR code" })).toBeVisible();

  await developer.button("Remove Work laptop");
  await developer.type("Type Work laptop to continue", "Work laptop");
  await developer.button("Remove");
  await expect(page.getByText("No passkeys yet.")).toBeVisible();
  await developer.signOut();
  await developer.button("Use a passkey"); // the device still has the passkey
  await expect(page.getByRole("alert").filter({ hasText: "The passkey could not be verified." })).toBeVisible();
});

test("a passkey without user verification is rejected", async ({ page, run }) => {
  const { developer, authenticator } = await withPasskey(page, run, "Work laptop");
  await developer.signOut();
  await authenticator.recognise(false);
  await developer.button("Use a passkey");
  await expect(page.getByRole("alert").filter({ hasText: "No passkey was used." })).toBeVisible();
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
});

test("a passkey response for another origin is rejected", async ({ page, run, host }) => {
  const { developer, authenticator } = await withPasskey(page, run, "Work laptop");
  await developer.signOut();

  // A program on another port of the same host can use the host's passkeys. The browser signs the challenge, but the signed data contains the origin of the attacking page.
  const elsewhere = host.publish({ site: "localhost", path: "/phishing" });
  expect(new URL(elsewhere).hostname).toBe(new URL(run.dashboard_url).hostname);
  expect(await present(page, run.dashboard_url, elsewhere)).toMatchObject({
    status: 400,
    error: "svc_invalid_request",
  });

  // A page on another host gets no response.
  const other = host.publish({ site: "phishing", path: "/" });
  expect(await present(page, run.dashboard_url, other)).toMatchObject({ refused: "SecurityError" });

  // The same WebAuthn call succeeds on the dashboard's own page.
  expect(await present(page, run.dashboard_url, run.dashboard_url)).toMatchObject({ status: 200 });
  expect((await authenticator.passkeys()).length).toBe(1);
});

interface Presented {
  status?: number;
  error?: string;
  refused?: string;
}

/** Makes a page request the dashboard's passkey, and presents the response to the service, as an attacker would. */
async function present(page: Page, dashboard: string, from: string): Promise<Presented> {
  const asked = await fetch(`${dashboard}/session/passkey/options`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: "{}",
  });
  const { data } = (await asked.json()) as { data: { options: RequestJson } };
  await page.goto(from);
  const answer = await page.evaluate(
    async ({ challenge, rpId }) => {
      const bytes = (text: string) =>
        Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
      try {
        const used = await navigator.credentials.get({
          publicKey: { challenge: bytes(challenge), ...(rpId && { rpId }), userVerification: "required" },
        });
        return (used as PublicKeyCredential & { toJSON(): object }).toJSON();
      } catch (error) {
        return { refused: (error as Error).name };
      }
    },
    { challenge: data.options.challenge, rpId: data.options.rpId },
  );
  if ("refused" in answer) return answer as Presented;
  const told = await fetch(`${dashboard}/session/passkey`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ response: answer }),
  });
  const { error } = (await told.json()) as { error?: string };
  return { status: told.status, ...(error && { error }) };
}
