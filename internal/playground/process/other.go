//go:build unix && !linux

package process

import "syscall"

// withUs keeps the signals of a terminal from a child. Where the kernel does not end children with their parent, a
// controller ends by itself once the API server is gone.
func withUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
