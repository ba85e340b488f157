package apitest

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// ErrDead is what a process that was killed gets for every call.
var ErrDead = errors.New("this process is dead")

// Dying returns the client of a process that is killed at one of its writes:
// before the server has the nth one, or after that and before it hears the
// answer. A nil client lets everything through. It also tells how many
// writes there were.
func Dying(c client.WithWatch, nth int, after bool) (client.WithWatch, func() int) {
	writes, dead := 0, false
	around := func(call func() error) error {
		if dead {
			return ErrDead
		}
		writes++
		if writes == nth {
			dead = true
			if !after {
				return ErrDead
			}
		}
		err := call()
		if dead {
			return ErrDead
		}
		return err
	}
	return interceptor.NewClient(c, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return around(func() error { return c.Create(ctx, o, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return around(func() error { return c.Delete(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return around(func() error { return c.Patch(ctx, o, p, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return around(func() error { return c.SubResource(name).Patch(ctx, o, p, opts...) })
		},
		SubResourceCreate: func(ctx context.Context, c client.Client, name string, o, sub client.Object, opts ...client.SubResourceCreateOption) error {
			return around(func() error { return c.SubResource(name).Create(ctx, o, sub, opts...) })
		},
	}), func() int { return writes }
}
