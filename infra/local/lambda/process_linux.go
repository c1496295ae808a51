package lambda

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Detached returns attributes for a process that only the runner stops, detached from the terminal. A detached process
// does not receive Ctrl-C from the terminal, but receives signal when the runner exits, even if the runner is killed.
// An orphaned process would compete with the next runner's processes.
func Detached(signal syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: signal}
}

// peakMemory returns an instance's peak process memory in bytes, or 0 if it can't be determined.
func peakMemory(in *instance) int64 {
	select {
	case <-in.gone:
		usage, ok := in.command.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok {
			return 0
		}
		return usage.Maxrss << 10
	default:
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", in.command.Process.Pid))
	if err != nil { // the process has exited
		return 0
	}
	_, after, _ := bytes.Cut(status, []byte("VmHWM:"))
	line, _, _ := bytes.Cut(after, []byte(" kB"))
	kilobytes, err := strconv.ParseInt(strings.TrimSpace(string(line)), 10, 64)
	if err != nil {
		return 0
	}
	return kilobytes << 10
}
