// Package contract compares the service's responses and events with docs/openapi.yaml and docs/asyncapi.yaml, in both
// directions. Each response and event must match its schema and must not contain undeclared members. By the end of the
// tests, every declared part must have appeared in a response or event.
//
// The package validates the subset of JSON Schema that the two documents use. Any other keyword is an error, so rules
// are never silently ignored. The package doesn't send requests. Tests pass received responses and events to the
// package.
package contract
