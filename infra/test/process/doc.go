// Package process tests the real runner with the functions' real binaries, in separate processes and real time. A
// killed process must be replaced, and its work must continue. The benchmarks measure how long a user of make run
// waits. The package contains only tests, which are separate from package e2e because e2e's tests do not need
// processes.
package process
