package dryrun

import (
	"maps"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/tenon-sh/tenon/internal/aws/launch"
	"github.com/tenon-sh/tenon/internal/aws/machine"
	"github.com/tenon-sh/tenon/internal/aws/say"
	"github.com/tenon-sh/tenon/internal/aws/template"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// How long the verdict on a class is used, and how soon one is asked for again
// that EC2 did not give.
const (
	triedFor   = 30 * time.Minute
	triedAgain = time.Minute
)

// Config is what Trials are told at the start.
type Config struct {
	EC2       *ec2.Client
	Launcher  *launch.Launcher
	Machines  *machine.Set
	Templates *template.Store
	Said      say.To
	Now       clock.Now
	Off       bool // classes are not tried
}

// Trials are the verdicts of dry runs, by what was tried.
type Trials struct {
	cfg Config

	mu      sync.Mutex
	stopped bool
	done    map[string]Verdict
}

// New returns Trials that have tried nothing yet.
func New(c Config) *Trials { return &Trials{cfg: c, stopped: c.Off, done: map[string]Verdict{}} }

// Verdict is what came of a trial.
type Verdict struct {
	Err     *cloud.Error // why it would not be launched; nil if it would
	Without string       // what could not be tried

	until time.Time
}

// stop sends no further dry runs.
func (t *Trials) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
}

// Off reports whether dry runs are off: nobody wants them, or they are carried out here.
func (t *Trials) Off() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stopped
}

func (t *Trials) find(key string) (Verdict, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known, ok := t.done[key]
	return known, ok && t.cfg.Now().Before(known.until)
}

func (t *Trials) keep(key string, v Verdict) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.done, func(_ string, old Verdict) bool { return !t.cfg.Now().Before(old.until) })
	t.done[key] = v
}
