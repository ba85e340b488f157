package process

import "syscall"

// withUs keeps the signals of a terminal from a child, and ends it when we end, however that comes.
func withUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
