// Package test groups the test packages that each cover several packages of the service. Package e2e runs complete
// journeys through the production wiring. Package contract checks the responses and events of these journeys against
// docs/openapi.yaml and docs/asyncapi.yaml. Package export compares exports with the data on the server. Package
// conformance compares the embedded AWS with third-party servers. Package interop tests the SMART client and webhooks
// against third-party code. Package policy checks the repository against its own rules.
package test
