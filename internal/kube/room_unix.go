//go:build unix

package kube

import "syscall"

// Free is how much room the file system of dir has left, in bytes.
func Free(dir string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil //nolint:gosec // a size of blocks is positive
}
