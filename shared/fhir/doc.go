// Package fhir implements the parts of FHIR that the service uses. The package extracts resources, references and
// attachments from raw JSON, parses search pages and CapabilityStatements, resolves URLs below a FHIR base, interprets
// granted SMART scopes, and classifies failed requests. The package sends no requests. Resources are never converted to
// Go structs, because records pass through unchanged.
//
// The package imports package words. Its subpackages:
//
//   - ccda converts C-CDA documents to FHIR (docs/reference/ccda.md). No other top-level package imports a package
//     below ccda.
//   - plan lists the searches that fetch a patient's record.
package fhir
