// Package fhirserver owns the FHIR R4 side of the sandbox EHR: reading, searching with pages, binaries and the
// CapabilityStatement, for one patient at a time.
//
// A bearer token opens the record of one persona, and every answer comes from that record alone: another patient's
// data is not filtered out but out of reach. It does not know how tokens are made (package oauth) or what a record
// says (package persona). Rules: https://hl7.org/fhir/R4/http.html and search.html.
package fhirserver
