// Package e2e runs complete journeys in this process and in virtual time, and injects crashes after every outbound
// call. The package contains only tests. Package process contains the tests with real processes.
package e2e
