package interrupt_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/interrupt"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/loop"
)

// A source that cannot be asked is asked less and less often. One that gives
// notices of which some cannot be handled is asked on and on: a spot machine has
// two minutes from the moment of its notice, not of its delivery.
func TestWaits(t *testing.T) {
	tests := map[string]struct {
		why         string
		asked, told error
		least, most int // questions in two minutes, each taking a second
	}{
		"Well":    {why: "There is nothing to wait for.", least: 119, most: 121},
		"Bad":     {why: "The message is wrong, not the queue.", told: errors.New("message m-1 is no notice"), least: 119, most: 121},
		"Refused": {why: "The queue is not there.", asked: errors.New("no such queue"), least: 5, most: 8},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				c := &interrupt.Controller{
					Cluster: cluster.New(clock.Wall), Now: clock.Wall, Log: logr.Discard(),
					Source: interrupt.Source{Name: "demo", Receive: func(_ context.Context, _ func(context.Context, interrupt.Notice) error, failed func(error)) (int, error) {
						time.Sleep(time.Second)
						asked++
						if tc.told != nil {
							failed(tc.told)
						}
						return 1, tc.asked
					}},
				}
				ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
				defer stop()
				if err := c.Start(ctx); err != nil {
					t.Fatal(err)
				}
				if asked < tc.least || asked > tc.most {
					t.Errorf("asked %d times in two minutes, want %d to %d: %s", asked, tc.least, tc.most, tc.why)
				}
			})
		})
	}
}

// The checks of a whole zone fail together: its machines drain in their own
// time, as their pods' budgets allow. Where one fails, it has none.
func TestAZoneFails(t *testing.T) {
	for failing, hurried := range map[int]int{1: 1, 4: 0} {
		t.Run(fmt.Sprint(failing), func(t *testing.T) {
			var objects []client.Object
			for i := range 12 {
				objects = append(objects, &v1.NodeClaim{
					ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("c", i), Labels: map[string]string{v1.LabelNodePool: "p"}, Finalizers: []string{v1.Finalizer}},
					Status:     v1.NodeClaimStatus{ProviderID: fmt.Sprint("aws:///a/i-", i)},
				})
			}
			store, state := apitest.New(t, clock.Wall, objects...), cluster.New(clock.Wall)
			apitest.Show(t, store, state)
			notice := interrupt.Notice{Kind: "instance_status", Event: "InstanceUnhealthy", Going: true, Forced: true}
			for i := range failing {
				notice.Machines = append(notice.Machines, cloud.MachineID(fmt.Sprint("i-", i)))
			}
			ctx, stop := context.WithCancel(t.Context())
			c := &interrupt.Controller{
				Client: store, Cluster: state, Now: clock.Wall, Log: logr.Discard(),
				Enact: &enact.Enactor{Client: store, Cluster: state, Events: (*loop.Events)(nil), Now: clock.Wall, Log: logr.Discard()},
				Source: interrupt.Source{Name: "demo", Polled: true, IDOf: idOf, Receive: func(ctx context.Context, handle func(context.Context, interrupt.Notice) error, _ func(error)) (int, error) {
					defer stop()
					return 1, handle(ctx, notice)
				}},
			}
			if err := c.Start(ctx); err != nil {
				t.Fatal(err)
			}
			var claims v1.NodeClaimList
			if err := store.List(t.Context(), &claims); err != nil {
				t.Fatal(err)
			}
			going, now := 0, 0
			for _, o := range claims.Items {
				if o.DeletionTimestamp != nil {
					going++
				}
				if o.Annotations[v1.AnnotationTerminationTime] != "" {
					now++
				}
			}
			if going != failing || now != hurried {
				t.Errorf("of %d machines that fail %d go, and %d without time, want %d", failing, going, now, hurried)
			}
		})
	}
}

// A notice about a machine whose claim does not name it yet stays with the
// source, without a word in the log, and ends the claim when it comes again.
func TestANoticeComesEarly(t *testing.T) {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{v1.LabelNodePool: "p"}, Finalizers: []string{v1.Finalizer}}}
	store, state := apitest.New(t, clock.Wall, claim), cluster.New(clock.Wall)
	apitest.Show(t, store, state)
	logged := 0
	log := funcr.New(func(_, line string) {
		if strings.Contains(line, "handle a notice") {
			logged++
		}
	}, funcr.Options{})
	times := 0
	ctx, stop := context.WithCancel(t.Context())
	c := &interrupt.Controller{
		Client: store, Cluster: state, Now: clock.Wall, Log: log,
		Enact: &enact.Enactor{Client: store, Cluster: state, Events: (*loop.Events)(nil), Now: clock.Wall, Log: logr.Discard()},
		Source: interrupt.Source{Name: "demo", Polled: true, IDOf: idOf, Receive: func(ctx context.Context, handle func(context.Context, interrupt.Notice) error, failed func(error)) (int, error) {
			err := handle(ctx, interrupt.Notice{Kind: "spot_interrupted", Event: "SpotInterrupted", Going: true, Machines: []cloud.MachineID{"i-1"}, At: time.Now()})
			if times++; times == 2 {
				stop()
				return 1, err
			}
			if err == nil {
				t.Error("the notice is done with before anything was done")
			}
			failed(fmt.Errorf("message m-1: %w", err))
			var now v1.NodeClaim
			if err := store.Get(ctx, client.ObjectKey{Name: "c"}, &now); err != nil {
				return 0, err
			}
			now.Status.ProviderID = "aws:///a/i-1"
			if err := store.Status().Update(ctx, &now); err != nil {
				return 0, err
			}
			apitest.Show(t, store, state)
			return 1, nil
		}},
	}
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
	var now v1.NodeClaim
	if err := store.Get(t.Context(), client.ObjectKey{Name: "c"}, &now); err != nil {
		t.Fatal(err)
	}
	if now.DeletionTimestamp == nil || logged > 0 {
		t.Errorf("the claim goes: %v; %d lines that something failed", now.DeletionTimestamp != nil, logged)
	}
}
