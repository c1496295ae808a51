// Package platform groups infrastructure code without domain logic: configuration, Lambda, limits, outbound HTTP.
//
// It imports words. Its packages:
//
//   - config reads the environment, secrets and parameters.
//   - due defines references to due rows, and the sweep that processes them.
//   - lambdarun provides every function's main, and handles Lambda events and SQS batches.
//   - maillimit limits e-mails by sender, mailbox and day (ADR 42).
//   - mailtext formats an e-mail as text and HTML.
//   - ratelimit implements rate limits (GCRA) without storage.
//   - safehttp is the only outbound HTTP client: address guard, size limits, client certificates.
package platform
