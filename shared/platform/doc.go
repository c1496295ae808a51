// Package platform groups infrastructure code without domain logic, such as configuration, Lambda handling, limits and
// outbound HTTP.
//
// Its packages import words:
//
//   - config reads the environment, secrets and parameters.
//   - due defines references to due rows, and the sweep that processes due rows.
//   - lambdarun provides every function's main, and handles Lambda events and SQS batches.
//   - maillimit limits emails by sender, mailbox and day (ADR 42).
//   - mailtext formats an email as text and HTML.
//   - ratelimit implements rate limits (GCRA) without storage.
//   - safehttp is the only outbound HTTP client: address guard, size limits, client certificates.
package platform
