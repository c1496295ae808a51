// Package process tests the compiled runner and functions, which run in separate processes and in real time. The
// package's tests check that a killed process is replaced and that its work continues. The package's benchmarks measure
// how long users of make run wait. The tests are separate from package e2e because e2e's tests do not need processes.
package process
