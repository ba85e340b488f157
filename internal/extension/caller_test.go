package extension

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// Reviews are remembered for a while, and so many of them; a right that is taken away ends soon, and a review that fails is no right.
func TestReviewsAreRemembered(t *testing.T) {
	asked, allowed, now := 0, true, time.Unix(1000, 0)
	var failed error
	c := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
		asked++
		o.(*authorizationv1.SubjectAccessReview).Status.Allowed = allowed
		return failed
	}}).Build()
	d := &permissions{client: c, now: func() time.Time { return now }}
	want := func(why string, who caller, namespace string, may bool, times int) {
		t.Helper()
		got, err := d.mayList(t.Context(), who, namespace)
		if err != nil || got != may || asked != times {
			t.Errorf("%s: may %v after %d reviews (%v), want %v after %d", why, got, asked, err, may, times)
		}
	}
	anna := caller{Name: "anna", Groups: []string{"a", "b"}}
	want("the first time it is reviewed", anna, "shop", true, 1)
	allowed = false
	want("then it is remembered", anna, "shop", true, 1)
	want("another namespace is another question", anna, "vault", false, 2)
	want("another caller as well, even if his groups read alike", caller{Name: "anna", Groups: []string{"a b"}}, "shop", false, 3)
	now = now.Add(reviewFresh)
	want("a right that is taken away ends", anna, "shop", false, 4)
	failed = errors.New("no")
	if may, err := d.mayList(t.Context(), anna, "other"); may || err == nil {
		t.Error("a review that fails gives a right")
	}
	failed = nil
	if want("it is asked again", anna, "other", false, 6); len(d.reviews) > mostReviews {
		t.Error("too many")
	}
	for i := range 2 * mostReviews {
		if _, err := d.mayList(t.Context(), anna, fmt.Sprint("n", i)); err != nil {
			t.Fatal(err)
		}
		if len(d.reviews) > mostReviews {
			t.Fatalf("%d reviews are remembered", len(d.reviews))
		}
	}
}
