// Package process tests the real runner with the functions' real binaries, in separate processes and real time: a
// killed process is replaced and its work continues. Its benchmarks measure the waiting times of a user of `make run`.
// It contains only tests, separate from those of package e2e, which have no processes to wait for.
package process
