// Package contract checks the service's responses and events against docs/openapi.yaml and docs/asyncapi.yaml, in both
// directions. Each must match its schema and contain no undeclared member, and everything declared must have appeared
// by the end of the tests.
//
// It contains a validator for the subset of JSON Schema that the two documents use. Any other keyword is an error, so
// that no rule is silently ignored. The package sends nothing: tests pass it the responses and events that they
// received.
package contract
