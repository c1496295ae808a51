// Package wiring is the room for code that wirings of several functions share. Each package links only the AWS clients
// that its functions use.
//
// It imports every other room but ui. Its packages:
//
//   - dashboard wires the dashboard's functions that write e-mails.
//   - directory wires the networks of TEFCA mode.
//   - disconnector wires the end of a connection.
//   - edge wires HTTP endpoints: limits, authentication, sessions.
//   - manage wires the functions through which members make changes.
//   - outbound wires functions that call servers outside AWS.
//   - ownurls reads the service's own URLs.
//   - portal wires functions that call token endpoints.
//   - recorder wires functions that take inquiries.
//   - setting reads the settings of TEFCA mode.
//   - starter wires functions that start an attempt.
package wiring
