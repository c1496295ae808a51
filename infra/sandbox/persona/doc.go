// Package persona owns the synthetic people of the sandbox EHR: who they are and every FHIR R4 resource of their
// records, either generated (Builtin) or read from a folder of bundles (LoadDir).
//
// It knows nothing about HTTP, OAuth or searching: it hands out whole records, and package fhirserver indexes and
// serves them. No resource describes a real person.
package persona
