// Package catalog models institutions (brand, portal and endpoint) and the service's registration with each endpoint.
// URLs and registrations never leave the service.
//
// The package imports words and fhir. The package does not depend on AWS or HTTP. The subpackages:
//
//   - compose merges each institution's listings and combines the lists into a catalogue (ADR 27).
//   - geo parses ZIP codes, and names parses institutions' names.
//   - health rates endpoints; health/rounds probes them.
//   - intake fetches published lists on schedule and decides whether to accept a new version.
//   - ledger defines the records outside snapshots, such as each mode's live version.
//   - listing parses published lists into a common form.
//   - lookalike detects names and hosts that a person could mistake for one another (ADR 39).
//   - publish releases a composed catalogue to patients.
//   - record defines the public form of an institution.
//   - search finds institutions by the text that a person types.
//   - serve responds to catalogue requests from a snapshot.
//   - served maps each brand to the endpoints that serve its patients.
//   - snapshot defines the catalogue's files.
package catalog
