package static

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/loop"
)

// What keeps a pool from its number is logged once, and again when it is something else; the pool has an event of it.
// A new pool whose class is not ready yet says so by its own conditions, and nothing is said here.
func TestWhatIsMissingIsTold(t *testing.T) {
	var lines []string
	heard := record.NewFakeRecorder(10)
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	c := &Controller{
		Client: apitest.New(t, clock.Wall, pool), Events: loop.NewEvents(clock.Wall, heard),
		Log: funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{}), logged: map[world.PoolID]lack{},
	}
	for _, tc := range []struct {
		missing int
		code    reason.Code
		said    string // what the log says, once in three looks
		event   string
	}{
		{3, reason.NotReady, "", ""},
		{3, reason.Limit, `"missing"=3`, "Warning ReplicasMissing 3 replicas of 3 cannot be asked for now: limit"},
		{3, reason.NoOffer, `"missing"=3`, "Warning ReplicasMissing 3 replicas of 3 cannot be asked for now: no offer"},
		{1, reason.NoOffer, `"missing"=1`, "Warning ReplicasMissing 1 replica of 3 cannot be asked for now: no offer"},
		{0, "", "", ""},
		{1, reason.NoOffer, `"missing"=1`, ""}, // the same event once in a quarter of an hour is enough
	} {
		lines = nil
		for range 3 {
			c.publish(t.Context(), plan.Plan{Static: []plan.Static{lacking("p", tc.missing, tc.code)}})
		}
		if said := strings.Join(lines, "; "); !strings.Contains(said, tc.said) || len(lines) != min(len(tc.said), 1) {
			t.Errorf("%d are missing for %q, and the log says %q", tc.missing, tc.code, lines)
		}
		event := ""
		select {
		case event = <-heard.Events:
		default:
		}
		if diff := cmp.Diff(tc.event, event); diff != "" {
			t.Errorf("%d are missing for %q: %s", tc.missing, tc.code, diff)
		}
	}
	// A pool that is gone has no event.
	c.publish(t.Context(), plan.Plan{Static: []plan.Static{lacking("gone", 1, reason.Limit)}})
	if len(heard.Events) > 0 {
		t.Errorf("of a pool that is not there it is told %q", <-heard.Events)
	}
}

// What cannot be written is logged and tried again soon. Of a process that ends it is no fault.
func TestWhatCannotBeWritten(t *testing.T) {
	var lines []string
	n := int64(0)
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: v1.NodePoolSpec{Replicas: &n}}
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{v1.LabelNodePool: "p"}}}
	store := interceptor.NewClient(apitest.New(t, clock.Wall, pool, claim), interceptor.Funcs{
		Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
			return errors.New("out of order")
		},
	})
	state := cluster.New(clock.Wall)
	state.SetNodePool(pool)
	state.SetClaim(claim)
	log := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
	c := &Controller{
		Client: store, Cluster: state, Journal: journal.New(1, "", nil), Now: clock.Wall, Log: log,
		Enact: &enact.Enactor{Client: store, Cluster: state, Now: clock.Wall, Log: log},
	}
	c.Listen()
	if wait := c.pass(t.Context()); wait != failed || len(lines) != 1 || !strings.Contains(lines[0], "out of order") {
		t.Errorf("a claim that cannot be deleted is tried again in %s, and the log says %q", wait, lines)
	}
	lines = nil
	over, end := context.WithCancel(t.Context())
	end()
	if c.pass(over); len(lines) > 0 {
		t.Errorf("a process that ends says %q", lines)
	}
}
