import { base64url, createLocalJWKSet, flattenedVerify, type JSONWebKeySet } from "jose";
import type { components } from "./api.js";
import { InvalidManifest } from "./errors.js";

/** Separates manifests from everything else that a key signs. */
const TYPE = "recordbridge-manifest+jws";
const ALGORITHM = "ES384";

/** A signed description of an export. */
export type Manifest = components["schemas"]["Manifest"];
/** An exported file. `sha256` is in hex. */
export type ManifestFile = components["schemas"]["ManifestFile"];

/**
 * Verifies a manifest's detached signature with a JWK Set, and returns the manifest. Pass the content as downloaded. It
 * throws InvalidManifest if the manifest can't be verified or read.
 */
export async function verifyManifest(
  content: Uint8Array,
  signature: string,
  keySet: JSONWebKeySet,
): Promise<Manifest> {
  try {
    await verifySignature(content, signature.trim(), keySet);
    const manifest = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(content)) as Manifest;
    if (manifest.version !== 1) throw new Error(`unsupported version ${String(manifest.version)}`);
    // Without a digest, a file would not be checked.
    if (manifest.files.some(({ sha256 }) => sha256.length !== 64)) throw new Error("a file has no SHA-256");
    return manifest;
  } catch (cause) {
    throw new InvalidManifest(`the manifest can't be verified: ${(cause as Error).message}`, { cause });
  }
}

/** Verifies a JWS with detached content (RFC 7515, appendix F). */
async function verifySignature(content: Uint8Array, signature: string, keySet: JSONWebKeySet): Promise<void> {
  const [header = "", attached, value = "", ...others] = signature.split(".");
  if (attached !== "" || others.length > 0) throw new Error("the signature isn't detached");
  const { alg, kid, typ, ...rest } = JSON.parse(Buffer.from(header, "base64url").toString()) as Record<string, unknown>;
  // Other members could supply a key or a URL, or change how the signature is verified.
  if (alg !== ALGORITHM || typ !== TYPE || typeof kid !== "string" || Object.keys(rest).length > 0) {
    throw new Error("the protected header isn't a manifest's");
  }
  const jws = { protected: header, payload: base64url.encode(content), signature: value };
  await flattenedVerify(jws, createLocalJWKSet(keySet), { algorithms: [ALGORITHM] });
}
