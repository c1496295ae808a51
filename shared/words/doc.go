// Package words is the room for the vocabulary that every other room shares.
//
// It imports no other room, no AWS and no HTTP. Its packages:
//
//   - cache keeps what a warm function has read, bounded in number and age.
//   - cursor seals the position in a list, bound to tenant and use.
//   - fault holds the kinds, codes and public texts of errors.
//   - ids parses and spells ids.
//   - logx writes one redacted log line per unit of work.
//   - metric names every metric and its dimensions.
//   - org holds the tenant (mode and organisation), credentials, key formats and redirect URIs.
//   - retry repeats an operation that lost against another writer.
//   - secret holds the redacting text type and numbered keyrings; secret/jws verifies and signs tokens.
//   - timestamp formats a time for responses, pages and messages.
//   - trace carries the id that joins the log lines of one request.
//   - weburl parses URLs from outside and reports which hosts are the service's own (ADR 40).
package words
