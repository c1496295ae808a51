// Package wiring groups code shared by several functions' wiring packages. Each package links only the AWS clients that
// its functions use.
//
// The wiring packages may import any shared package except ui. The packages are:
//
//   - dashboard wires the dashboard functions that send emails.
//   - directory wires the facilities of TEFCA networks.
//   - disconnector wires the ending of connections.
//   - edge wires HTTP endpoints: rate limits, authentication, sessions.
//   - manage wires the functions through which members make changes.
//   - outbound wires functions that call servers outside AWS.
//   - ownurls reads the service's own URLs.
//   - portal wires functions that call token endpoints.
//   - recorder wires functions that receive inquiries.
//   - setting reads the settings for TEFCA mode.
//   - starter wires functions that start an attempt.
package wiring
