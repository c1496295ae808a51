/** Values that nobody can guess. crypto.randomUUID is missing on pages without TLS, where developers begin. */

const bytes = (length: number): number[] => [...crypto.getRandomValues(new Uint8Array(length))];

/** A UUID of version 4 (RFC 9562). */
export function attemptID(): string {
  const hex = bytes(16).map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/(.{8})(.{4}).(.{3}).(.{3})/, "$1-$2-4$3-8$4-");
}

/** 32 bytes as 43 characters of base64url. */
export function attemptToken(): string {
  return btoa(String.fromCharCode(...bytes(32))).replace(/[+/=]/g, (sign) => ({ "+": "-", "/": "_" })[sign] ?? "");
}
