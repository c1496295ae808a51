// Package contract checks the service's responses and events against docs/openapi.yaml and docs/asyncapi.yaml, and the
// two documents against the responses and events. Each response and event must match its schema and contain no
// undeclared member. By the end of the tests, every declared part must have appeared.
//
// The package validates the subset of JSON Schema that the two documents use. Any other keyword is an error, so that no
// rule is silently ignored. The package sends no requests: tests pass the responses and events that they received.
package contract
