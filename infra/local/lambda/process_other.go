//go:build !linux

package lambda

import "syscall"

// Detached returns attributes for a process that only the runner stops, detached from the terminal. A detached process
// does not receive Ctrl-C from the terminal. If the runner is killed, the detached process exits when it next requests
// an invocation.
func Detached(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// peakMemory returns 0, because peak memory can't be determined on this platform.
func peakMemory(*instance) int64 { return 0 }
