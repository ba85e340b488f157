package loop_test

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/loop"
)

// lagging is a client whose reads show claims as they were when they were last
// shown, one that reads them as they are, and a function that shows them so.
func lagging(t *testing.T, objects ...client.Object) (behind client.Client, live client.Reader, catchUp func()) {
	t.Helper()
	known := runtime.NewScheme()
	if err := v1.AddToScheme(known); err != nil {
		t.Fatal(err)
	}
	var shown v1.NodeClaimList
	store := fake.NewClientBuilder().WithScheme(known).WithObjects(objects...).WithStatusSubresource(&v1.NodeClaim{}).Build()
	catchUp = func() {
		shown = v1.NodeClaimList{}
		if err := store.List(t.Context(), &shown); err != nil {
			t.Fatal(err)
		}
	}
	catchUp()
	return interceptor.NewClient(store, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
			for i := range shown.Items {
				if c, ok := o.(*v1.NodeClaim); ok && shown.Items[i].Name == key.Name {
					shown.Items[i].DeepCopyInto(c)
					return nil
				}
			}
			return apierrors.NewNotFound(v1.GroupVersion.WithResource("nodeclaims").GroupResource(), key.Name)
		},
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
			if l, ok := list.(*v1.NodeClaimList); ok {
				shown.DeepCopyInto(l)
			}
			return nil
		},
	}), store, catchUp
}

// What was written is read although the cache does not show it yet, and what the cache shows later wins.
func TestRememberReadsWhatItWrote(t *testing.T) {
	now := time.Now()
	behind, live, catchUp := lagging(t, &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "1"}})
	c := loop.Remember(behind, live, func() time.Time { return now })
	read := func() string {
		var one v1.NodeClaim
		var all v1.NodeClaimList
		if err := c.Get(t.Context(), client.ObjectKey{Name: "c"}, &one); err != nil {
			t.Fatal(err)
		}
		if err := c.List(t.Context(), &all); err != nil {
			t.Fatal(err)
		}
		if all.Items[0].Status.NodeName != one.Status.NodeName {
			t.Errorf("the list shows node %q, the object %q", all.Items[0].Status.NodeName, one.Status.NodeName)
		}
		return one.Status.NodeName
	}
	write := func(through client.Client, node string) {
		var one v1.NodeClaim
		if err := through.Get(t.Context(), client.ObjectKey{Name: "c"}, &one); err != nil {
			t.Fatal(err)
		}
		if _, err := loop.PatchStatus(t.Context(), through, &one, func(c *v1.NodeClaim) { c.Status.NodeName = node }); err != nil {
			t.Fatal(err)
		}
	}
	write(c, "first")
	write(c, "second") // which would be a conflict if the first were not read
	if got := read(); got != "second" {
		t.Errorf("read node %q of a stale cache, want what was written", got)
	}
	catchUp()
	write(behind, "third")
	catchUp()
	if got := read(); got != "third" {
		t.Errorf("read node %q, want what another wrote since", got)
	}
	write(c, "fourth")
	now = now.Add(time.Hour)
	if got := read(); got != "third" {
		t.Errorf("read node %q, want the cache to be believed after so long", got)
	}
}

// Of two writes that begin with the same object one is refused. What the other made of it is read all the same, so that
// the next attempt is not refused, too, for as long as the cache is behind.
func TestRememberOutlivesAConflict(t *testing.T) {
	now := time.Now()
	behind, live, _ := lagging(t, &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "1"}})
	c := loop.Remember(behind, live, func() time.Time { return now })
	read := func() *v1.NodeClaim {
		var one v1.NodeClaim
		if err := c.Get(t.Context(), client.ObjectKey{Name: "c"}, &one); err != nil {
			t.Fatal(err)
		}
		return &one
	}
	write := func(o *v1.NodeClaim, node string) error {
		_, err := loop.PatchStatus(t.Context(), c, o, func(c *v1.NodeClaim) { c.Status.NodeName = node })
		return err
	}
	one, other := read(), read()
	if err := write(one, "first"); err != nil {
		t.Fatal(err)
	}
	if err := write(other, "second"); !apierrors.IsConflict(err) {
		t.Fatalf("a write of an object that has changed meanwhile: %v, want a conflict", err)
	}
	if got := read().Status.NodeName; got != "first" {
		t.Errorf("read node %q after the conflict, want what was written", got)
	}
	if err := write(read(), "second"); err != nil {
		t.Errorf("the second attempt: %v", err)
	}

	// What was remembered is itself old: then the API server is asked, for the cache is older still.
	old := read()
	if err := behind.Status().Patch(t.Context(), patched(t, old, "other"), client.MergeFrom(old)); err != nil {
		t.Fatal(err)
	}
	if err := write(old, "third"); !apierrors.IsConflict(err) {
		t.Fatalf("a write of an object that another has changed: %v, want a conflict", err)
	}
	if got := read().Status.NodeName; got != "other" {
		t.Errorf("read node %q after the conflict, want what another wrote", got)
	}
	if err := write(read(), "third"); err != nil {
		t.Errorf("the attempt after that: %v", err)
	}
}

// patched is a copy with another node.
func patched(t *testing.T, o *v1.NodeClaim, node string) *v1.NodeClaim {
	t.Helper()
	out := o.DeepCopy()
	out.Status.NodeName = node
	return out
}
