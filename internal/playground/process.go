package playground

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// A process is a child of the playground that does not outlive it.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // how it ended, once done is closed
}

// run starts cmd.
func run(cmd *exec.Cmd) (*process, error) {
	cmd.SysProcAttr = withUs()
	p := &process{cmd: cmd, done: make(chan struct{})}
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

// stop asks the process to end, makes it when it has not after grace, and waits for that.
func (p *process) stop(grace time.Duration) {
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

// A keeper keeps a program running.
type keeper struct {
	program func() (*exec.Cmd, error)            // for each run anew
	started func(*process)                       // is told of each run
	ended   func(err error, pause time.Duration) // is told how it ended, and when the next one begins
}

// keep runs the program, again and again with growing pauses, until ctx ends.
func (k keeper) keep(ctx context.Context) {
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
		k.ended(err, pause)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, mostPause)
	}
}

// once runs the program until it ends or ctx does.
func (k keeper) once(ctx context.Context) error {
	cmd, err := k.program()
	if err != nil {
		return err
	}
	p, err := run(cmd)
	if err != nil {
		return err
	}
	k.started(p)
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		p.stop(stopGrace)
		return ctx.Err()
	}
}
