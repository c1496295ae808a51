// Package catalog contains the institutions: brand, portal and endpoint, and our client's registration at each
// endpoint. URLs and registrations never leave the service.
//
// It imports words and fhir. It does not depend on AWS or HTTP. Its packages:
//
//   - compose merges the listings of one institution, and lists into a catalogue (ADR 27).
//   - geo reads ZIP codes, names reads institutions' names.
//   - health rates endpoints; health/rounds probes them.
//   - intake reads published lists on schedule and decides whether to accept a reading.
//   - ledger holds the rows beside the files; snapshot holds the files; served picks the live version.
//   - listing parses published lists into one form.
//   - lookalike finds names and hosts that a person can mistake for one another (ADR 39).
//   - publish releases a composed catalogue to patients.
//   - record is the public form of an institution.
//   - search finds institutions by the text that a person types.
//   - serve answers catalogue requests from a snapshot.
package catalog
