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
	if !o.Reset { // which makes room
		if err := dir.roomy(); err != nil {
			return err
		}
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
	if err := reserve(said); err != nil {
		return fmt.Errorf("temporary file for what the playground says: %w; free some room there, or set TMPDIR to another directory", err)
	}
	cmd := exec.Command(self, append(args, "--story=false")...)
	cmd.Stderr = said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return awaited(ctx, cmd, said.Name(), func() bool {
		c, err := Dial(dir)
		if err != nil || c.PID != cmd.Process.Pid {
			return false
		}
		welcome(out, o, c.Contact)
		return true
	}, dir)
}

// awaited waits until the playground that was started is up. If it ends before, what it said into the file is the error.
func awaited(ctx context.Context, cmd *exec.Cmd, said string, up func() bool, dir Dir) error {
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
			text, err := os.ReadFile(said)
			return errors.Join(err, lastWords(text, cmd.ProcessState.String(), dir))
		case <-tick.C:
			if up() {
				return nil
			}
		}
	}
}

// words is the room that is reserved for the error of a playground that does not come up.
const words = 16 << 10

// reserve keeps room in the file, so that an error can be written on a disk that is full by then.
func reserve(f *os.File) error {
	if _, err := f.Write(make([]byte, words)); err != nil {
		return err
	}
	_, err := f.Seek(0, io.SeekStart)
	return err
}

// lastWords is the error of a playground that said this and ended so.
func lastWords(said []byte, ended string, dir Dir) error {
	text := strings.TrimPrefix(strings.Trim(string(said), "\x00\n\t "), "tenon: ")
	if text == "" {
		text = fmt.Sprintf("the playground in %s ended without a word (%s); what its parts said is in %s", dir, ended, dir.join("log"))
	}
	return errors.New(text)
}
