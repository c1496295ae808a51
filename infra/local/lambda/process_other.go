//go:build !linux

package lambda

import "syscall"

// Detached is for processes that the runner ends itself: it keeps Ctrl-C in the terminal away from them. When the
// runner is killed, a function ends as soon as it asks for its next invocation.
func Detached(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// peakMemory is not known here.
func peakMemory(*instance) int64 { return 0 }
