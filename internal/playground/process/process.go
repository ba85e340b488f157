// Package process runs programs as children that do not outlive this process.
package process

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// A Process is a running child.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// Start starts cmd.
func Start(cmd *exec.Cmd) (*Process, error) {
	cmd.SysProcAttr = withUs()
	p := &Process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The kernel ends the child with the thread that has started it, so that thread stays until then.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return p, nil
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err is how it ended, once Done is closed; nil: well.
func (p *Process) Err() error { return p.err }

// Kill ends the process as a crash would.
func (p *Process) Kill() error { return p.cmd.Process.Kill() }

// Stop asks the process to end, makes it when it has not after grace, and waits for that.
func (p *Process) Stop(grace time.Duration) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.done:
		return
	case <-time.After(grace):
	}
	_ = p.cmd.Process.Kill()
	<-p.done
}

const (
	leastPause = 500 * time.Millisecond // before a program that has ended is started again
	mostPause  = 15 * time.Second
	wellAfter  = 30 * time.Second // a program that has run so long has started well
	stopGrace  = 10 * time.Second
)

// A Keeper keeps a program running.
type Keeper struct {
	Program func() (*exec.Cmd, error)            // for each run again
	Started func(*Process)                       // receives each run
	Ended   func(err error, pause time.Duration) // receives how it ended, and when the next one begins
}

// Keep runs the program, again and again with growing pauses, until ctx ends.
func (k Keeper) Keep(ctx context.Context) {
	pause := leastPause
	for ctx.Err() == nil {
		late := time.NewTimer(wellAfter)
		err := k.once(ctx)
		select {
		case <-late.C:
			pause = leastPause
		default:
			late.Stop()
		}
		if ctx.Err() != nil {
			return
		}
		k.Ended(err, pause)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, mostPause)
	}
}

// once runs the program until it ends or ctx does.
func (k Keeper) once(ctx context.Context) error {
	cmd, err := k.Program()
	if err != nil {
		return err
	}
	p, err := Start(cmd)
	if err != nil {
		return err
	}
	k.Started(p)
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		p.Stop(stopGrace)
		return ctx.Err()
	}
}
