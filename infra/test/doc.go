// Package test is the parent of tests that span several packages. e2e runs complete journeys through the production
// wiring. contract checks these journeys' responses and events against docs/openapi.yaml and docs/asyncapi.yaml. export
// compares exports with the data on the server. conformance compares the embedded AWS with third-party servers. interop
// tests our SMART client and webhooks against third-party code. policy enforces the repository's rules.
package test
