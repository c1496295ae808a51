// Package process tests the real runner with the functions' real binaries, in separate processes and real time. It
// proves that a killed process is replaced and its work continues. Its benchmarks measure how long a user of `make run`
// waits. It contains only tests. They are separate from package e2e, whose tests need no processes.
package process
