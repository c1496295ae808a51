// Package catalog owns the institutions: brand, portal and endpoint, and under which registration our client is
// known at an endpoint. URLs and registrations never leave the service.
//
// The room imports words and fhir. It knows no AWS and no HTTP. Its packages:
//
//   - compose merges the listings of one institution, and lists into a catalogue (ADR 27).
//   - geo reads ZIP codes, names reads institutions' names.
//   - health rates endpoints; health/rounds probes them.
//   - intake reads published lists on schedule and decides whether to believe a reading.
//   - ledger holds the rows beside the files; snapshot holds the files; served picks what is live.
//   - listing parses published lists into one form.
//   - lookalike finds names and hosts that a person can mistake for one another (ADR 39).
//   - publish makes a composed catalogue the one patients find.
//   - record is the public form of an institution.
//   - search finds institutions by what a person types.
//   - serve answers catalogue requests from a snapshot.
package catalog
