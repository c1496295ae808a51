// Package fhir implements the parts of FHIR that the service uses: extracting resources, references and attachments
// from raw JSON, parsing search pages and CapabilityStatements, resolving URLs below a FHIR base, interpreting granted
// SMART scopes, and classifying failed requests to a FHIR server. It is pure: it sends no requests, and it never
// converts a resource to Go structs, because records pass through unchanged.
//
// The package imports words. Its subpackages:
//
//   - ccda converts C-CDA documents to FHIR (docs/reference/ccda.md). No other top-level package imports a package
//     below it.
//   - plan lists the searches that fetch a patient's record.
package fhir
