// Package e2e runs complete journeys within one process, in virtual time, and injects crashes after every outbound
// call. Package process contains the tests that start real processes.
package e2e
