//go:build unix

package kube

import "syscall"

// ownGroup keeps the signals of a terminal from a child.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
