package kube

import (
	"fmt"
	"path/filepath"
)

// needs is the room that a control plane takes at least: etcd reserves 64 MiB for
// its log, and as much again for the one that follows; then there is what it keeps.
const needs = 160 << 20

// Room says what is wrong if the file system of dir, which is there, has too
// little left for a control plane. etcd would panic, or hang, on a full disk.
func Room(dir string) error { return room(dir, needs) }

func room(dir string, needs uint64) error {
	left, err := Free(dir)
	if err != nil {
		return fmt.Errorf("see how much room is left in %s: %w", dir, err)
	}
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	if left < needs {
		return fmt.Errorf("the disk is full: %s has %d MiB left, and a control plane needs %d MiB; free some, or use another directory", dir, left>>20, needs>>20)
	}
	return nil
}
