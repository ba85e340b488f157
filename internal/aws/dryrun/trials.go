package dryrun

import (
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/tenon-sh/tenon/internal/aws/answers"
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

// Config is what Trials are made with.
type Config struct {
	EC2       *ec2.Client
	Launcher  *launch.Launcher
	Machines  *machine.Set
	Templates *template.Store
	Said      say.Sink
	Now       clock.Now
	Off       bool // classes are not tried
}

// Trials are the verdicts of dry runs, by what was tried.
type Trials struct {
	cfg Config

	verdicts *answers.Memory[Verdict]
	stopped  atomic.Bool
}

// New returns Trials that have tried nothing yet.
func New(c Config) *Trials {
	t := &Trials{cfg: c, verdicts: answers.New(c.Now, answers.Rules[Verdict]{})}
	t.stopped.Store(c.Off)
	return t
}

// Verdict is what came of a trial.
type Verdict struct {
	Err     *cloud.Error // why it would not be launched; nil if it would
	Without string       // what could not be tried
}

// stop sends no further dry runs.
func (t *Trials) stop() { t.stopped.Store(true) }

// Off reports whether dry runs are off: they are not wanted, or they are carried out here.
func (t *Trials) Off() bool { return t.stopped.Load() }
