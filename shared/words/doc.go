// Package words groups the vocabulary that all other packages share.
//
// It imports no package outside this directory, no AWS and no HTTP. Its packages:
//
//   - cache keeps in memory what a warm function has read, bounded in number and age.
//   - cursor seals the position in a list, bound to tenant and use.
//   - fault defines the kinds, codes and public texts of errors.
//   - ids parses and formats ids.
//   - logx writes one redacted log line per unit of work.
//   - metric names every metric and its dimensions.
//   - org holds the tenant (mode and organisation), credentials, key formats and redirect URIs.
//   - retry repeats an operation that lost a compare-and-swap.
//   - secret holds the redacting text type and numbered keyrings; secret/jws verifies and signs tokens.
//   - timestamp formats times for responses, pages and messages.
//   - trace carries the id that joins the log lines of one request.
//   - weburl parses external URLs and reports which hosts are the service's own (ADR 40).
package words
