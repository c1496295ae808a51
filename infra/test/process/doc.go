// Package process tests the real runner with the functions' real binaries, in separate processes and real time. It
// checks that a killed process is replaced and that its work continues. The benchmarks measure how long a user of make
// run waits. The package contains only tests. These tests are separate from package e2e, whose tests do not need
// processes.
package process
