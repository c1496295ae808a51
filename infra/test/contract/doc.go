// Package contract judges what the service sends by what docs/openapi.yaml and docs/asyncapi.yaml promise, in both
// directions: an answer or an event must be as its schema says and hold nothing that the schema does not declare, and
// whatever is declared must have been seen by the time the tests end.
//
// It owns a validator of the part of JSON Schema that the two documents use; a keyword outside of it is an error, so
// that nothing is believed to hold that was not looked at. It sends nothing: tests hand it what they saw.
package contract
