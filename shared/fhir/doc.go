// Package fhir owns the service's knowledge of FHIR itself: finding resources, references and attachments in raw JSON,
// reading search pages, URLs below a FHIR base, CapabilityStatements, granted SMART scopes, and the classes of failed
// requests to a FHIR server. It is pure: it sends nothing, and it never converts a resource to Go structs, because
// records pass through unchanged.
//
// The package imports words. Its subpackages:
//
//   - ccda converts C-CDA documents to FHIR (docs/reference/ccda.md). No other top-level package imports a package
//     below it.
//   - plan lists the searches that fetch a patient's record.
package fhir
