package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// How a part can end.
const (
	passed  = "passed"
	failed  = "FAILED"
	late    = "TIMED OUT"
	stopped = "stopped"
)

// run runs the steps one after the other, all of them even if one fails, and keeps what they say in a file.
func (p part) run(ctx context.Context, log string) (came result) {
	start := time.Now() //nolint:forbidigo // how long it took is what is told
	came = result{Part: p.name, Result: failed, Log: log}
	defer func() { came.Seconds = int(time.Since(start).Seconds()) }() //nolint:forbidigo // as above
	f, err := create(log)
	if err != nil {
		came.Counted = err.Error()
		return came
	}
	defer f.Close()
	within, cancel := context.WithTimeout(ctx, p.within)
	defer cancel()
	var c counter
	ok := true
	steps := p.steps
	if p.cluster {
		steps = append([]step{{args: []string{"go", "run", "./tools/controlplane"}}}, steps...)
	}
	for _, s := range steps {
		if within.Err() != nil {
			break
		}
		fmt.Fprintf(f, "+ %s\n", s)
		if err := s.run(within, io.MultiWriter(f, &c)); err != nil {
			ok = false
			fmt.Fprintf(f, "%s: %v\n", s, err)
		}
	}
	c.flush()
	came.Counted, came.Failures = c.String(), c.failed
	switch {
	case ctx.Err() != nil:
		came.Result = stopped
	case within.Err() != nil:
		came.Result = late
	case ok:
		came.Result = passed
	}
	return came
}

// run runs the command with all that it starts in a group of its own, which ends with it.
func (s step) run(ctx context.Context, out io.Writer) error {
	cmd := exec.CommandContext(ctx, s.args[0], s.args[1:]...)
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), s.env...) //nolint:forbidigo // what it starts is of its kind
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	err := cmd.Run()
	if cmd.Process != nil {
		if e := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); e != nil && !errors.Is(e, syscall.ESRCH) {
			err = errors.Join(err, fmt.Errorf("end what it left behind: %w", e))
		}
	}
	return err
}

func create(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return os.Create(path) //nolint:gosec // below the folder of the state
}
