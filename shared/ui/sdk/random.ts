/** Random values. Pages without TLS, which developers often start with, lack crypto.randomUUID. */

const hex = (length: number): string =>
  [...crypto.getRandomValues(new Uint8Array(length))].map((byte) => (byte + 256).toString(16).slice(1)).join("");

/** Returns a UUID of version 4 (RFC 9562). */
export const attemptID = (): string => hex(16).replace(/(.{8})(.{4}).(.{3}).(.{3})/, "$1-$2-4$3-8$4-");

/** Returns 256 random bits as 64 hexadecimal digits. */
export const attemptToken = (): string => hex(32);
