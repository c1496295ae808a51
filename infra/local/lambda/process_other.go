//go:build !linux

package lambda

import "syscall"

// processAttributes keep Ctrl-C in the terminal away from the functions, so that the runner decides about their end.
// When the runner is killed, a function ends as soon as it asks for its next invocation.
func processAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// peakMemory is not known here.
func peakMemory(*instance) int64 { return 0 }
