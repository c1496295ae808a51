// Package test is the parent of the packages whose tests span several packages. Package e2e runs complete journeys
// through the production wiring. Package contract checks these journeys' responses and events against docs/openapi.yaml
// and docs/asyncapi.yaml. Package export compares exports with the data on the server. Package conformance compares the
// embedded AWS with third-party servers. Package interop tests the SMART client and webhooks against third-party code.
// Package policy enforces the repository's rules.
package test
