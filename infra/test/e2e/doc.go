// Package e2e runs complete journeys in this process and in virtual time, with crashes after every outbound call. It
// contains only tests. Tests with real processes are in package process.
package e2e
