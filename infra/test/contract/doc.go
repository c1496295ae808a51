// Package contract checks the service's responses and events against docs/openapi.yaml and docs/asyncapi.yaml, and the
// reverse. Each response and event must match its schema and must not contain undeclared members. By the end of the
// tests, every part of the documents must have appeared in a response or event.
//
// The package validates only the subset of JSON Schema used by the two documents. Any other schema keyword is an error,
// so that no rule is silently ignored. The package sends no requests itself. Tests pass it the responses and events
// that they receive.
package contract
