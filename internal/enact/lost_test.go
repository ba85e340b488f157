package enact_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/loop"
)

// A claim whose answer was lost counts as made, or it would be asked for again
// beside the machine that comes for it. One of another's by the same name does not.
func TestAClaimWhoseAnswerWasLostIsMade(t *testing.T) {
	tests := map[string]struct {
		why   string
		there *v1.NodeClaim
		loses int  // answers, one after the other
		fast  bool // it is launched meanwhile
		never bool // what has no answer did not arrive either
		made  bool
	}{
		"Lost":    {"It was made, and only the answer did not come.", nil, 1, false, false, true},
		"Fast":    {"It was made, and its machine was launched before that could be seen.", nil, 1, true, false, true},
		"Twice":   {"It was made, and neither answer came.", nil, 2, false, false, true},
		"Never":   {"It was not made, so that it is when it is written again.", nil, 1, false, true, true},
		"Another": {"A claim of other pods has the name: these still need one.", &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "p-abcde", Labels: map[string]string{v1.LabelNodePool: "p"}}}, 0, false, false, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
			pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"}
			objects := []client.Object{pool}
			if tc.there != nil {
				objects = append(objects, tc.there)
			}
			lose := tc.loses
			through := interceptor.NewClient(apitest.New(t, clock.Wall, objects...), interceptor.Funcs{
				Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
					if lose == 0 {
						return c.Create(ctx, o, opts...)
					}
					lose--
					if tc.never {
						return apierrors.NewTimeoutError("it was lost", 1)
					}
					sent, ok := o.DeepCopyObject().(client.Object)
					if !ok {
						t.Fatalf("%T is no object", o)
					}
					if err := c.Create(ctx, sent, opts...); err != nil && !apierrors.IsAlreadyExists(err) {
						return err
					}
					if claim, ok := sent.(*v1.NodeClaim); ok && tc.fast {
						claim.Status.ProviderID = "aws:///us-west-2a/i-1"
						if err := c.Status().Update(ctx, claim); err != nil {
							return err
						}
					}
					return apierrors.NewTimeoutError("the answer was lost", 1)
				},
			})
			state := cluster.New(func() time.Time { return time.Unix(1_000_000, 0) })
			e := &enact.Enactor{Client: through, Cluster: state, Events: (*loop.Events)(nil), Now: clock.Wall, Log: logr.Discard(), Suffix: func() string { return "abcde" }}
			a := plan.Ask{Name: "ask", Pool: world.PoolID{Kind: world.NodePool, Name: "p"}, Pods: []world.Key{{Namespace: "default", Name: "a"}}}
			made, err := e.Ask(t.Context(), []plan.Ask{a}, enact.Provisioned)
			if got := err == nil && made["ask"] == "p-abcde"; got != tc.made {
				t.Errorf("made %t (%v, %v), want %t: %s", got, made, err, tc.made, tc.why)
			}
			var claims v1.NodeClaimList
			if err := through.List(t.Context(), &claims); err != nil || len(claims.Items) != 1 {
				t.Errorf("there are %d claims, %v", len(claims.Items), err)
			}
		})
	}
}
