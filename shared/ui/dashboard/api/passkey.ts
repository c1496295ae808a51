/** Passkeys (W3C WebAuthn level 3). Converts the server's options for the browser, and the browser's response to JSON. */

interface Described {
  id: string;
  type: "public-key";
  transports?: AuthenticatorTransport[];
}

type Json<T, K extends keyof T> = Omit<T, K>;

export interface CreationJson extends Json<
  PublicKeyCredentialCreationOptions,
  "challenge" | "user" | "excludeCredentials"
> {
  challenge: string;
  user: { id: string; name: string; displayName: string };
  excludeCredentials?: Described[];
}

export interface RequestJson extends Json<PublicKeyCredentialRequestOptions, "challenge" | "allowCredentials"> {
  challenge: string;
  allowCredentials?: Described[];
}

export const hasPasskeys = (): boolean => "PublicKeyCredential" in window;

/** Creates a passkey. */
export async function create(options: CreationJson): Promise<object> {
  const { challenge, user, excludeCredentials = [], ...rest } = options;
  const publicKey = {
    ...rest,
    challenge: decode(challenge),
    user: { ...user, id: decode(user.id) },
    excludeCredentials: excludeCredentials.map(described),
  };
  return answered(await navigator.credentials.create({ publicKey }).catch(explain));
}

/** Signs in with a passkey. */
export async function use(options: RequestJson): Promise<object> {
  const { challenge, allowCredentials = [], ...rest } = options;
  const publicKey = { ...rest, challenge: decode(challenge), allowCredentials: allowCredentials.map(described) };
  return answered(await navigator.credentials.get({ publicKey }).catch(explain));
}

const nothing = "No passkey was used. Try again or use another method.";

/** Error messages by the name of the browser's error (sections 5.1.3 and 5.1.4). The browser's own message is meant for developers. */
const REASONS: Record<string, string> = {
  InvalidStateError: "This device already has a passkey for your account.",
  SecurityError: "Passkeys work only on the dashboard’s own URL. Open that URL to use a passkey.",
};

function explain(error: unknown): never {
  throw error instanceof DOMException ? new Error(REASONS[error.name] ?? nothing, { cause: error }) : error;
}

function answered(made: Credential | null): object {
  if (!(made instanceof PublicKeyCredential)) throw new Error(nothing);
  const { response } = made;
  const common = {
    id: made.id,
    rawId: encode(made.rawId),
    type: made.type,
    authenticatorAttachment: made.authenticatorAttachment,
    clientExtensionResults: made.getClientExtensionResults(),
  };
  if (response instanceof AuthenticatorAttestationResponse) {
    return {
      ...common,
      response: {
        clientDataJSON: encode(response.clientDataJSON),
        attestationObject: encode(response.attestationObject),
        transports: response.getTransports(),
      },
    };
  }
  const { clientDataJSON, authenticatorData, signature, userHandle } = response as AuthenticatorAssertionResponse;
  const handle = userHandle === null ? {} : { userHandle: encode(userHandle) };
  return {
    ...common,
    response: {
      clientDataJSON: encode(clientDataJSON),
      authenticatorData: encode(authenticatorData),
      signature: encode(signature),
      ...handle,
    },
  };
}

const described = ({ id, ...rest }: Described): PublicKeyCredentialDescriptor => ({ ...rest, id: decode(id) });

export function decode(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
}

export function encode(bytes: ArrayBuffer): string {
  const letters = String.fromCharCode(...new Uint8Array(bytes));
  return btoa(letters).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}
