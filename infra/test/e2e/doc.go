// Package e2e runs complete journeys within one process, in virtual time, and injects crashes after every outbound
// call. It contains only tests. Package process contains the tests with real processes.
package e2e
