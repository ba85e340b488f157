package loop

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/written"
)

// Remember returns a client that reads what it has written: a claim or a node
// that the cache behind c still shows as it was before is read as the API
// server answered. So a reconciler does not take a step twice, and several that
// write to one claim do not meet each other's writes as conflicts. What others
// have written shows in a refused write: the object is then read by live, for a
// cache that is behind would have the next write refused as well, and the one after it.
func Remember(c client.Client, live client.Reader, now clock.Now) client.Client {
	return &remembering{Client: c, live: live, now: now, wrote: map[string]*written.Log[client.Object]{"claim": {}, "node": {}}}
}

type remembering struct {
	client.Client

	live client.Reader
	now  clock.Now

	mu    sync.Mutex
	wrote map[string]*written.Log[client.Object] // by kind
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
	if now.Sub(r.swept) > written.Patience {
		for _, wrote := range r.wrote {
			wrote.Lost(now)
		}
		r.swept = now
	}
	r.wrote[kind].Set(o, newest, written.Write, now)
}

// recall lays what was written over what the cache shows, if that is older.
func (r *remembering) recall(shown client.Object) {
	kind := kindOf(shown)
	if kind == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	newest, ok := r.wrote[kind].Newer(shown, r.now())
	if !ok {
		r.wrote[kind].Forget(shown.GetName(), "")
		return
	}
	switch to := shown.(type) {
	case *v1.NodeClaim:
		if from, ok := newest.(*v1.NodeClaim); ok {
			from.DeepCopyInto(to)
		}
	case *corev1.Node:
		if from, ok := newest.(*corev1.Node); ok {
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
	r.learn(ctx, o, err)
	return err
}

// Status is client.StatusClient's.
func (r *remembering) Status() client.SubResourceWriter {
	return rememberingStatus{r.Client.Status(), r}
}

// learn takes over what a write says of an object: what it is now, or that it is not what it was thought to be.
func (r *remembering) learn(ctx context.Context, o client.Object, err error) {
	switch {
	case err == nil:
		r.note(o)
	case apierrors.IsNotFound(err):
		r.forget(o)
	case apierrors.IsConflict(err) && !r.overtaken(o):
		r.forget(o)
		r.look(ctx, o)
	}
}

// overtaken reports whether another of our own writes came before one that was refused: what it made of the object is the newest that is known.
func (r *remembering) overtaken(o client.Object) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	wrote := r.wrote[kindOf(o)]
	if wrote == nil {
		return false
	}
	_, newer := wrote.Newer(o, r.now())
	return newer
}

func (r *remembering) forget(o client.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if wrote := r.wrote[kindOf(o)]; wrote != nil {
		wrote.Forget(o.GetName(), "")
	}
}

// look reads an object of which only the API server knows what it is now. Where it does not say, the cache will show it.
func (r *remembering) look(ctx context.Context, o client.Object) {
	var now client.Object
	switch o.(type) {
	case *v1.NodeClaim:
		now = &v1.NodeClaim{}
	case *corev1.Node:
		now = &corev1.Node{}
	default:
		return
	}
	if r.live.Get(ctx, client.ObjectKeyFromObject(o), now) == nil {
		r.note(now)
	}
}

type rememberingStatus struct {
	client.SubResourceWriter

	memory *remembering
}

// Patch is client.SubResourceWriter's.
func (s rememberingStatus) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	err := s.SubResourceWriter.Patch(ctx, o, p, opts...)
	s.memory.learn(ctx, o, err)
	return err
}
