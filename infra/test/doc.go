// Package test has nothing of its own: its folders are the tests that judge more than one package. e2e performs whole
// journeys through production's wiring; contract has what they see judged by docs/openapi.yaml and docs/asyncapi.yaml;
// export compares exports with what a server holds; conformance has the embedded AWS compared with other people's
// servers; interop has our SMART client and our webhooks judged by other people's code; policy holds the house rules.
package test
