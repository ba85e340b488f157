package playground

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// detached runs this program again with args, in a session of its own, and returns when the playground of that process
// is ready. What it says goes to a log.
func detached(ctx context.Context, o Options, out io.Writer, args []string) error {
	dir := o.Dir
	if err := os.MkdirAll(dir.join("log"), 0o700); err != nil {
		return fmt.Errorf("directory of the playground: %w; choose another with --dir", err)
	}
	if dir.inUse() {
		return RunningError{Dir: dir, PID: dir.owner()}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool {
		return a == "--detach" || strings.HasPrefix(a, "--detach=")
	})
	if err := os.Remove(dir.contact()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	said, err := os.CreateTemp("", "tenon-up-") // the directory itself may be reset
	if err != nil {
		return err
	}
	defer os.Remove(said.Name())
	defer said.Close()
	cmd := exec.Command(self, append(args, "--story=false")...)
	cmd.Stderr = said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // what it has said is the better error
	}()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			_ = cmd.Process.Signal(syscall.SIGTERM)
			<-ended
			return ctx.Err()
		case <-ended:
			text, err := os.ReadFile(said.Name())
			return errors.Join(err, errors.New(strings.TrimPrefix(strings.TrimSpace(string(text)), "tenon: ")))
		case <-tick.C:
			if c, err := Dial(dir); err == nil && c.PID == cmd.Process.Pid {
				welcome(out, o, c.Contact)
				return nil
			}
		}
	}
}
