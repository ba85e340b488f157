package interrupt_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/interrupt"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/metric"
)

// counted is what the metrics of notices say, by name and label; of the histogram how many there were.
func counted(t *testing.T, g prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := strings.TrimPrefix(f.GetName(), "karpenter_interruption_")
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			if n := m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount()); n > 0 && strings.HasPrefix(f.GetName(), "karpenter_interruption_") {
				out[name] = n
			}
		}
	}
	return out
}

// What is done about a notice: whether the claim ends, and at once; what the claim, and its node if there is one, say; what is
// remembered of the offer; and what is counted, messages only if they came by a queue.
func TestWhatIsDone(t *testing.T) {
	const drained, ended = "TerminatingOnInterruption The machine will be gone: its node is drained now", "TerminatingOnInterruption The machine is of no use any more: it is ended now"
	for name, tc := range map[string]struct {
		why         string
		notice      interrupt.Notice
		polled      bool
		bare        bool // it has no node yet
		goes, hurry bool
		action      string
		events      []string // on each of both
		sold        string   // what was taken back
		counted     map[string]float64
	}{
		"Spot": {
			why: "Its node drains while there is time, and spot of its type is scarce there.", notice: interrupt.Notice{Kind: "spot_interrupted", Event: "SpotInterrupted", Going: true, Reclaims: true, At: time.Now()},
			goes: true, action: "CordonAndDrain", events: []string{"SpotInterrupted it goes", drained}, sold: "large a",
			counted: map[string]float64{"received_messages_total spot_interrupted": 1, "deleted_messages_total": 1, "message_queue_duration_seconds": 1},
		},
		"Undated": {
			why: "How long it was on the queue is not known.", notice: interrupt.Notice{Kind: "scheduled_change", Event: "Unhealthy", Going: true},
			goes: true, action: "CordonAndDrain", events: []string{"Unhealthy it goes", drained},
			counted: map[string]float64{"received_messages_total scheduled_change": 1, "deleted_messages_total": 1},
		},
		"Advice": {
			why: "Nothing is to be done, and people are to know.", notice: interrupt.Notice{Kind: "rebalance_recommendation", Event: "RebalanceRecommendation"},
			action: "NoAction", events: []string{"RebalanceRecommendation it goes"},
			counted: map[string]float64{"received_messages_total rebalance_recommendation": 1, "deleted_messages_total": 1},
		},
		"Failed": {
			why: "It is of no use: no pod is waited for. That was found out, and is no message.", notice: interrupt.Notice{Kind: "instance_status", Category: "instance", Event: "InstanceUnhealthy", Going: true, Forced: true},
			polled: true, goes: true, hurry: true, action: "Terminate", events: []string{"InstanceUnhealthy it goes", ended},
			counted: map[string]float64{"instance_status_unhealthy_total instance": 1},
		},
		"NoNode": {
			why: "It has not joined: only the claim can say it.", notice: interrupt.Notice{Kind: "spot_interrupted", Event: "SpotInterrupted", Going: true, At: time.Now()},
			bare: true, goes: true, action: "CordonAndDrain", events: []string{"SpotInterrupted it goes", drained},
			counted: map[string]float64{"received_messages_total spot_interrupted": 1, "deleted_messages_total": 1, "message_queue_duration_seconds": 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			labels := map[string]string{v1.LabelNodePool: "p", v1.LabelCapacityType: "spot", corev1.LabelInstanceTypeStable: "large", corev1.LabelTopologyZone: "a"}
			claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: labels, Finalizers: []string{v1.Finalizer}}, Status: v1.NodeClaimStatus{ProviderID: "aws:///a/i-1"}}
			objects := []client.Object{claim}
			if !tc.bare {
				objects = append(objects, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: labels}, Spec: corev1.NodeSpec{ProviderID: "aws:///a/i-1"}})
			}
			store, state, heard := apitest.New(t, clock.Wall, objects...), cluster.New(clock.Wall), record.NewFakeRecorder(9)
			apitest.Show(t, store, state)
			registry := prometheus.NewRegistry()
			set, err := metric.New(registry, nil)
			if err != nil {
				t.Fatal(err)
			}
			action, sold := "", ""
			log := funcr.New(func(_, line string) {
				if _, rest, ok := strings.Cut(line, `"action"="`); ok {
					action, _, _ = strings.Cut(rest, `"`)
				}
			}, funcr.Options{})
			tc.notice.Text, tc.notice.Machines = "it goes", []cloud.MachineID{"i-1"}
			ctx, stop := context.WithCancel(t.Context())
			c := &interrupt.Controller{
				Client: store, Cluster: state, Events: loop.NewEvents(clock.Wall, heard), Metrics: set, Now: clock.Wall, Log: log,
				Enact: &enact.Enactor{Client: store, Cluster: state, Events: (*loop.Events)(nil), Now: clock.Wall, Log: logr.Discard()},
				Source: interrupt.Source{
					Polled: tc.polled, IDOf: idOf, Interrupted: func(shape, zone string) { sold = shape + " " + zone },
					Receive: func(ctx context.Context, handle func(context.Context, interrupt.Notice) error, _ func(error)) (int, error) {
						defer stop()
						return 1, handle(ctx, tc.notice)
					},
				},
			}
			if err := c.Start(ctx); err != nil {
				t.Fatal(err)
			}
			if err := store.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(claim.DeletionTimestamp != nil, " ", claim.Annotations[v1.AnnotationTerminationTime] != "", " ", action, " ", sold)
			if want := fmt.Sprint(tc.goes, " ", tc.hurry, " ", tc.action, " ", tc.sold); got != want {
				t.Errorf("it goes, without time, as what, and what was taken back: %s, want %s: %s", got, want, tc.why)
			}
			want := map[string]int{}
			for _, e := range tc.events {
				if want["Warning "+e] = 2; tc.bare {
					want["Warning "+e] = 1
				}
			}
			said := map[string]int{}
			for len(heard.Events) > 0 {
				said[<-heard.Events]++
			}
			if diff := cmp.Diff(want, said); diff != "" {
				t.Errorf("%s\nevents: -want +got\n%s", tc.why, diff)
			}
			if diff := cmp.Diff(tc.counted, counted(t, registry)); diff != "" {
				t.Errorf("%s\ncounted: -want +got\n%s", tc.why, diff)
			}
		})
	}
}
