//go:build !linux

package lambda

import "syscall"

// Detached returns attributes for processes that the runner ends itself. They do not receive Ctrl-C from the terminal.
// If the runner is killed, a function ends once it requests its next invocation.
func Detached(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// peakMemory returns 0, since the peak memory is unknown here.
func peakMemory(*instance) int64 { return 0 }
