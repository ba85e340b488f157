package loop

import (
	"context"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/clock"
)

// forgotten is when a write is no longer remembered although no cache shows it:
// the object may have come and gone while no watch was open.
const forgotten = 30 * time.Second

// Remember returns a client that reads what it has written: a claim or a node
// that the cache behind c still shows as it was before is read as the API
// server answered. So a reconciler does not take a step twice, and several that
// write to one claim do not meet each other's writes as conflicts.
func Remember(c client.Client, now clock.Now) client.Client {
	return &remembering{Client: c, now: now, wrote: map[written]memory{}}
}

// written names an object that is remembered.
type written struct{ kind, name string }

type memory struct {
	o     client.Object
	until time.Time
}

type remembering struct {
	client.Client

	now clock.Now

	mu    sync.Mutex
	wrote map[written]memory
	swept time.Time
}

// kindOf is the kind of objects that are remembered; "" for all others.
func kindOf(o client.Object) string {
	switch o.(type) {
	case *v1.NodeClaim:
		return "claim"
	case *corev1.Node:
		return "node"
	}
	return ""
}

// note remembers an object as the API server answered.
func (r *remembering) note(o client.Object) {
	kind := kindOf(o)
	if kind == "" {
		return
	}
	newest, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if now.Sub(r.swept) > forgotten {
		for k, m := range r.wrote {
			if now.After(m.until) {
				delete(r.wrote, k)
			}
		}
		r.swept = now
	}
	k := written{kind, o.GetName()}
	if was, ok := r.wrote[k]; ok && was.o.GetUID() == o.GetUID() && versionOf(was.o) > versionOf(o) {
		return
	}
	r.wrote[k] = memory{newest, now.Add(forgotten)}
}

// recall lays what was written over what the cache shows, if that is older.
func (r *remembering) recall(shown client.Object) {
	kind := kindOf(shown)
	if kind == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	k := written{kind, shown.GetName()}
	m, ok := r.wrote[k]
	switch {
	case !ok:
		return
	case m.o.GetUID() != shown.GetUID(), versionOf(m.o) <= versionOf(shown), r.now().After(m.until):
		delete(r.wrote, k)
		return
	}
	switch to := shown.(type) {
	case *v1.NodeClaim:
		if from, ok := m.o.(*v1.NodeClaim); ok {
			from.DeepCopyInto(to)
		}
	case *corev1.Node:
		if from, ok := m.o.(*corev1.Node); ok {
			from.DeepCopyInto(to)
		}
	}
}

// Get is client.Reader's.
func (r *remembering) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	err := r.Client.Get(ctx, key, o, opts...)
	if err == nil {
		r.recall(o)
	}
	return err
}

// List is client.Reader's. An object is in the list if the cache has it there.
func (r *remembering) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := r.Client.List(ctx, list, opts...); err != nil {
		return err
	}
	switch l := list.(type) {
	case *v1.NodeClaimList:
		for i := range l.Items {
			r.recall(&l.Items[i])
		}
	case *corev1.NodeList:
		for i := range l.Items {
			r.recall(&l.Items[i])
		}
	}
	return nil
}

// Patch is client.Writer's.
func (r *remembering) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	err := r.Client.Patch(ctx, o, p, opts...)
	r.learn(o, err)
	return err
}

// Status is client.StatusClient's.
func (r *remembering) Status() client.SubResourceWriter {
	return rememberingStatus{r.Client.Status(), r}
}

// learn takes over what a write says of an object: what it is now, or that it is not what it was thought to be.
func (r *remembering) learn(o client.Object, err error) {
	switch {
	case err == nil:
		r.note(o)
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.wrote, written{kindOf(o), o.GetName()})
	}
}

type rememberingStatus struct {
	client.SubResourceWriter

	memory *remembering
}

// Patch is client.SubResourceWriter's.
func (s rememberingStatus) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	err := s.SubResourceWriter.Patch(ctx, o, p, opts...)
	s.memory.learn(o, err)
	return err
}

// versionOf reads a resource version; those of one kind of object grow.
func versionOf(o client.Object) uint64 {
	n, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
