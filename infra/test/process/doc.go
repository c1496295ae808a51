// Package process holds the real runner with the functions' real binaries, in processes of their own and real
// time, to what is promised of processes: one that is killed is replaced and its work goes on. Its benchmarks
// measure what a person at `make run` waits for. It has tests only, apart from those of package e2e, which
// have no process to wait for.
package process
