package process

import (
	"context"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

func TestAProgramThatEndsIsStartedAgain(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	runs := 0
	var pauses []time.Duration
	Keeper{Program: func() (*exec.Cmd, error) {
		runs++
		return exec.Command("false"), nil
	}, Started: func(*Process) {}, Ended: func(err error, pause time.Duration) {
		if err == nil {
			t.Error("false has ended well")
		}
		if pauses = append(pauses, pause); runs == 2 {
			cancel()
		}
	}}.Keep(ctx)
	if runs != 2 || len(pauses) != 2 || pauses[0] >= pauses[1] {
		t.Errorf("%d runs, pauses %v; want two, each pause longer than the one before", runs, pauses)
	}
}

func TestAProgramIsAskedToEndBeforeItIsMade(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		signal syscall.Signal
	}{
		"it listens":      {"sleep 60", syscall.SIGTERM},
		"it does not":     {"trap '' TERM; echo; while :; do sleep 60; done", syscall.SIGKILL},
		"it ends by then": {"exit 0", 0},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("sh", "-c", c.script)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			p, err := Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			if c.signal != syscall.SIGTERM {
				_, _ = out.Read(make([]byte, 1)) // the trap is set, or it has ended
			}
			p.Stop(200 * time.Millisecond)
			if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signaled() && status.Signal() != c.signal || !status.Signaled() && c.signal != 0 {
				t.Errorf("it ended with %v", cmd.ProcessState)
			}
		})
	}
}
