package aws

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"sync"
	"time"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// How long the verdict on a class is used, and how soon one is asked for again
// that EC2 did not give.
const (
	triedFor   = 30 * time.Minute
	triedAgain = time.Minute
)

// trials are the verdicts of dry runs, by what was tried.
type trials struct {
	now clock.Now

	mu      sync.Mutex
	stopped bool
	done    map[string]trial
}

type trial struct {
	until   time.Time
	err     *cloud.Error // why it would not be launched; nil if it would
	without string       // what could not be tried
}

// stop sends no further dry runs.
func (t *trials) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
}

func (t *trials) off() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stopped
}

func (t *trials) find(key string) (trial, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known, ok := t.done[key]
	return known, ok && t.now().Before(known.until)
}

func (t *trials) keep(key string, v trial) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.done, func(_ string, old trial) bool { return !t.now().Before(old.until) })
	t.done[key] = v
}

// validate has EC2 say, by dry runs, whether it would launch machines of a class
// whose parts have all been found. Only a missing permission is the class' fault;
// what EC2 does not say for another reason keeps nobody from launching.
func (d *Driver) validate(ctx context.Context, c nodeclass.Class, out *Inspection) error {
	if d.cfg.Settings.NoDryRun || d.trials.off() || c.LaunchTemplate != "" || out.Profile == "" {
		return nil
	}
	key := trialOf(c, out)
	verdict, ok := d.trials.find(key)
	if !ok {
		verdict = d.try(ctx, c, out.Profile)
		d.trials.keep(key, verdict)
	}
	out.Tried = !d.trials.off()
	if verdict.without != "" {
		out.Without[awsv1.ConditionValidationSucceeded] = verdict.without
	}
	if verdict.err != nil {
		return verdict.err
	}
	return nil
}

// trialOf names all that a trial depends on.
func trialOf(c nodeclass.Class, out *Inspection) string {
	h := fnv.New64a()
	fmt.Fprint(h, c.Ref, c.Hash, c.Tags, out.Profile)
	for _, i := range out.Images {
		fmt.Fprint(h, i.ID)
	}
	for _, g := range out.Groups {
		fmt.Fprint(h, g.ID)
	}
	return fmt.Sprint(h.Sum64())
}

// try rehearses a launch and judges the answers.
func (d *Driver) try(ctx context.Context, c nodeclass.Class, profile string) trial {
	l, o, kind, err := d.scene(ctx, c)
	if err != nil || o == nil {
		return d.untried(fmt.Errorf("nothing to try it with: %w", err))
	}
	in, err := l.rehearsal(*o, kind, profile)
	if err != nil {
		verdict := d.untried(err)
		verdict.err, _ = errors.AsType[*cloud.Error](err)
		return verdict
	}
	verdict := trial{until: d.trials.now().Add(triedFor)}
	for _, a := range d.rehearse(ctx, in) {
		if a.err == nil {
			continue
		}
		switch wrapped := refusal.Wrap(in.what+": "+a.check, a.err); cloud.CodeOf(wrapped) {
		case cloud.Unauthorised:
			verdict.err = cloud.Errorf(cloud.Unauthorised, a.reason, "%w: %s", wrapped, refusal.Advice(wrapped))
			verdict.until = d.trials.now().Add(triedAgain)
			return verdict
		case cloud.Capacity:
			// that is the account's, and of this moment
		case cloud.Throttled, cloud.Unknown:
			return d.untried(wrapped)
		default:
			verdict.without = wrapped.Error()
			verdict.until = d.trials.now().Add(triedAgain)
		}
	}
	return verdict
}

// untried is the verdict where EC2 gave none.
func (d *Driver) untried(err error) trial {
	return trial{until: d.trials.now().Add(triedAgain), without: "not tried: " + err.Error()}
}
