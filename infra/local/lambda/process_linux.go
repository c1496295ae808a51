package lambda

import "syscall"

// processAttributes keep Ctrl-C in the terminal away from the functions, so that the runner decides about their end,
// and let them die with the runner even when it is killed: an orphan would go on working against its successor.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
