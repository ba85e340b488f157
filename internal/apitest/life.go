package apitest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tenon-sh/tenon/internal/cloud"
)

// ErrDead is what a process that was killed gets for every call.
var ErrDead = errors.New("this process is dead")

// Life is a process that is killed at one of its writes: before it is made, or
// after that and before the process hears the answer.
type Life struct {
	nth   int
	after bool

	mu     sync.Mutex
	writes int
	dead   bool
}

func (l *Life) String() string {
	if l.after {
		return fmt.Sprintf("killed after write %d", l.nth)
	}
	return fmt.Sprintf("killed before write %d", l.nth)
}

// EachDeath tells a story once for every life that ends at one of its writes, in
// virtual time, and returns how many writes there are in the longest.
func EachDeath(t *testing.T, story func(*testing.T, *Life)) int {
	t.Helper()
	const most = 200
	for nth := 1; nth <= most; nth++ {
		reached := false
		for _, after := range []bool{false, true} {
			l := &Life{nth: nth, after: after}
			t.Run(l.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { story(t, l) })
			})
			reached = reached || l.writes >= nth
		}
		if !reached {
			return nth - 1
		}
	}
	t.Fatalf("a life has more than %d writes", most)
	return 0
}

// Write makes a write, unless the process is dead or dies of it.
func (l *Life) Write(call func() error) error {
	l.mu.Lock()
	if l.dead {
		l.mu.Unlock()
		return ErrDead
	}
	l.writes++
	dies := l.writes == l.nth
	l.dead = dies
	l.mu.Unlock()
	if dies && !l.after {
		return ErrDead
	}
	if err := call(); !dies {
		return err
	}
	return ErrDead
}

// Client returns a client whose writes are this life's.
func (l *Life) Client(c client.WithWatch) client.WithWatch {
	return interceptor.NewClient(c, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return l.Write(func() error { return c.Create(ctx, o, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return l.Write(func() error { return c.Delete(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return l.Write(func() error { return c.Patch(ctx, o, p, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return l.Write(func() error { return c.SubResource(name).Patch(ctx, o, p, opts...) })
		},
		SubResourceCreate: func(ctx context.Context, c client.Client, name string, o, sub client.Object, opts ...client.SubResourceCreateOption) error {
			return l.Write(func() error { return c.SubResource(name).Create(ctx, o, sub, opts...) })
		},
	})
}

// Driver returns a driver whose launches and terminations are this life's.
func (l *Life) Driver(d cloud.Driver) cloud.Driver { return driver{d, l} }

type driver struct {
	cloud.Driver
	life *Life
}

func (d driver) Launch(ctx context.Context, orders []cloud.Order) (out []cloud.Outcome) {
	err := d.life.Write(func() error { out = d.Driver.Launch(ctx, orders); return nil })
	if err == nil {
		return out
	}
	out = make([]cloud.Outcome, len(orders))
	for i := range out {
		out[i].Err = err
	}
	return out
}

func (d driver) Terminate(ctx context.Context, ids []cloud.MachineID) (errs []error) {
	err := d.life.Write(func() error { errs = d.Driver.Terminate(ctx, ids); return nil })
	if err == nil {
		return errs
	}
	return slices.Repeat([]error{err}, len(ids))
}

// Step has a reconciler look once at each of some objects, and returns how soon
// it wants to look again at the last. That its process is dead is no error.
func Step(t *testing.T, r reconcile.Reconciler, names ...string) (again time.Duration) {
	t.Helper()
	for _, name := range names {
		res, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: name}})
		if err != nil && !errors.Is(err, ErrDead) {
			t.Fatal(err)
		}
		again = res.RequeueAfter
	}
	return again
}
