// Package wiring groups code that the wirings of several functions share. Each package links only the AWS clients that
// its functions use.
//
// It may import all of shared except ui. Its packages:
//
//   - dashboard wires the dashboard's functions that send e-mails.
//   - directory wires the networks of TEFCA mode.
//   - disconnector wires the ending of a connection.
//   - edge wires HTTP endpoints: limits, authentication, sessions.
//   - manage wires the functions through which members make changes.
//   - outbound wires functions that call servers outside AWS.
//   - ownurls reads the service's own URLs.
//   - portal wires functions that call token endpoints.
//   - recorder wires functions that receive inquiries.
//   - setting reads the settings of TEFCA mode.
//   - starter wires functions that start an attempt.
package wiring
