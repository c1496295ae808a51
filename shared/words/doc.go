// Package words groups the basic packages that all other packages share.
//
// The packages don't import any AWS or HTTP package or any other package of this module. The packages are:
//
//   - cache provides an in-memory cache with a maximum size and age.
//   - colour computes contrasts and legible colours.
//   - cursor encrypts list positions and ties them to a tenant and a use.
//   - fault defines the kinds, codes and public texts of errors.
//   - ids parses and formats IDs.
//   - logx writes one redacted log line per unit of work.
//   - metric names every metric and its dimensions.
//   - org defines tenants (mode and organisation), credentials, key formats and redirect URIs.
//   - release names deployments by time, version and commit.
//   - retry repeats an operation that lost a compare-and-swap.
//   - secret provides a self-redacting text type and versioned keyrings; secret/jws verifies and
//     signs tokens and files, and publishes signing keys.
//   - timestamp formats times for responses, pages and messages.
//   - trace carries the ID that correlates the log lines of one request.
//   - version identifies the states of editable objects, for edits with If-Match.
//   - weburl parses external URLs and identifies the service's own hosts (ADR 40).
package words
