// Package fhir owns what the service knows about FHIR itself: finding resources, references and attachments in raw
// JSON, reading search pages, URLs below a FHIR base, CapabilityStatements, granted SMART scopes, and the words
// for how a request to a FHIR server failed. It is pure: it sends nothing, and it never turns a resource into Go
// structures, because records pass through as they are.
//
// The room imports words. Its packages:
//
//   - ccda converts C-CDA documents to FHIR (docs/reference/ccda.md). Other rooms import no package below it.
//   - plan lists the searches that fetch a patient's record.
package fhir
