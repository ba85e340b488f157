package up

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lock waits for the control plane that had the directory before. When its parent was killed it is still on its way
// out; the kernel releases the lock of a process that dies.
func lock(ctx context.Context, file string) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	late := time.After(2 * stopTimeout)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", file, err)
		}
		select {
		case <-tick.C:
			continue
		case <-ctx.Done():
			err = ctx.Err()
		case <-late:
			err = fmt.Errorf("another control plane runs in this directory: %s is locked", file)
		}
		f.Close()
		return nil, err
	}
}
