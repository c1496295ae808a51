// Package platform groups infrastructure code without domain knowledge: configuration, Lambda, limits, outbound HTTP.
//
// It imports words. Its packages:
//
//   - config reads the environment, secrets and parameters.
//   - due holds references to rows that are due, and the sweep that finds such rows.
//   - lambdarun runs every function: its main, Lambda's events, and the handling of a batch.
//   - maillimit limits e-mails by sender, mailbox and day (ADR 42).
//   - mailtext lays out an e-mail as text and HTML.
//   - ratelimit implements the arithmetic of rate limits (GCRA).
//   - safehttp is the only outbound HTTP client: address guard, size limits, client certificates.
package platform
