// Package process runs the real runner and the functions' real binaries in separate processes and real time. Its tests
// check that a killed process is replaced and that its work continues. Its benchmarks measure how long users of make
// run wait. The tests are separate from package e2e because e2e's tests do not need processes.
package process
