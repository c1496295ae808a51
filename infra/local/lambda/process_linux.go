package lambda

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Detached is for processes that the runner ends itself: it keeps Ctrl-C in the terminal away from them, and gives them
// signal when the runner is gone, even when that was killed: an orphan would go on working against its successor.
func Detached(signal syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: signal}
}

// peakMemory is the most memory that the process of in has had, in bytes; 0 when it cannot be found out.
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
	if err != nil { // it has ended just now
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
