package aws

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/internal/aws/machine"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/profile"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/aws/say"
	"github.com/tenon-sh/tenon/internal/aws/template"
	"github.com/tenon-sh/tenon/internal/clock"
)

// collectEvery is how often profiles that nothing needs are looked for.
const collectEvery = 30 * time.Minute

// leftovers ends what is made beside machines once nothing needs it.
type leftovers struct {
	templates *template.Store
	profiles  profile.Classes
	machines  *machine.Set
	said      say.Sink
	now       clock.Now

	mu        sync.Mutex
	collected time.Time // when profiles were last looked through
}

func (l *leftovers) sweep(ctx context.Context) error {
	gone, err := l.templates.Sweep(ctx)
	err = errors.Join(err, l.collect(ctx))
	for _, t := range gone {
		l.said(say.Line{
			Debug: true, Message: fmt.Sprintf("Deleted launch template %s (%s)", t.Name, t.ID),
			Fields: map[string]string{"launch-template": t.Name},
		})
	}
	return err
}

// collect ends instance profiles that were left behind. The first time comes when
// every class has been looked at often.
func (l *leftovers) collect(ctx context.Context) error {
	if !l.due() {
		return nil
	}
	used, err := l.machines.Profiles(ctx)
	if err != nil {
		return err
	}
	p := l.profiles
	err = p.Store.Collect(ctx, p.Region, p.Cluster, func(name string) bool { return used[name] })
	if refusal.Absent(err) {
		return nil
	}
	return err
}

func (l *leftovers) due() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if l.collected.IsZero() {
		l.collected = now
	}
	due := now.Sub(l.collected) >= collectEvery
	if due {
		l.collected = now
	}
	return due
}

// retire ends what was made for a class.
func (l *leftovers) retire(ctx context.Context, c nodeclass.Class) error {
	tag := machine.TagClass
	if c.Legacy {
		tag = "karpenter.k8s.aws/nodetemplate"
	}
	if _, err := l.templates.DeleteOf(ctx, tag, c.Ref.Name); err != nil {
		return err
	}
	if c.Role == "" {
		return nil
	}
	return l.profiles.Store.Delete(ctx, l.profiles.Owner(c).Path(), nil)
}
