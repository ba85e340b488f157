package live

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/metric"
)

// A board plots of a World what the page does.
func TestMeasure(t *testing.T) {
	pool := world.PoolID{Kind: world.NodePool, Name: "p"}
	of := func(shape, kind string) map[string]string {
		return map[string]string{label.InstanceType: shape, label.Zone: "z", label.CapacityType: kind, label.NodePool: "p"}
	}
	b := world.NewBuilder()
	for _, err := range []error{
		b.SetPool(world.Pool{ID: pool, Template: "t"}),
		b.SetCatalog(world.Catalog{Template: "t", Version: "1", Shapes: []world.Shape{{Name: "big", Offers: []world.Offer{
			{Zone: "z", CapacityType: "spot", Price: 250_000}, {Zone: "z", CapacityType: "on-demand", Price: 1_000_000},
		}}}}),
		b.SetNode(world.Node{Name: "there", Pool: pool, Ready: true, Labels: of("big", "spot")}),
		b.SetNode(world.Node{Name: "broken", Pool: pool, Labels: of("big", "on-demand")}),
		b.SetNode(world.Node{Name: "foreign", Ready: true, Labels: of("unknown", "spot")}),
		b.SetClaim(world.Claim{Name: "coming", Pool: pool, Labels: of("big", "spot")}),
		b.SetClaim(world.Claim{Name: "going", Pool: pool, Node: "last", Deleting: true, Labels: of("big", "spot")}),
		b.SetNode(world.Node{Name: "last", Pool: pool, Claim: "going", Ready: true, Deleting: true, Labels: of("big", "spot")}),
		b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: "old"}, Waiting: true, Created: 40}),
		b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: "new"}, Waiting: true, Created: 90}),
		b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: "room"}, Waiting: true, Virtual: true, Created: 1}),
		b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: "gated"}, Gated: true, Created: 10}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	registry := prometheus.NewPedanticRegistry()
	m, err := metric.New(registry, nil)
	if err != nil {
		t.Fatal(err)
	}
	Measure(m, b.Snapshot(100))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "tenon_cluster_") || strings.HasPrefix(f.GetName(), "tenon_pending_") {
			for _, one := range f.GetMetric() {
				line := f.GetName()
				for _, l := range one.GetLabel() {
					line += " " + l.GetValue()
				}
				got = append(got, fmt.Sprintf("%s %v", line, one.GetGauge().GetValue()))
			}
		}
	}
	want := []string{
		"tenon_cluster_hourly_price on_demand 4", "tenon_cluster_hourly_price price 1.75",
		"tenon_cluster_nodes coming 1", "tenon_cluster_nodes going 1", "tenon_cluster_nodes not_ready 1", "tenon_cluster_nodes ready 2",
		"tenon_pending_pods 3", "tenon_pending_pods_longest_seconds 90",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
