package cluster_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/observe"
)

// zonesAndNodes are the defaults of most clusters that set some.
func zonesAndNodes() observe.DefaultSpread {
	return observe.ReadDefaultSpread([]corev1.TopologySpreadConstraint{
		{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule},
		{MaxSkew: 3, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway},
	})
}

func named(name string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "d", Name: name, Labels: labels}
}

// made is a pod that a controller made.
func made(kind, version, by string, labels map[string]string) *corev1.Pod {
	yes := true
	p := &corev1.Pod{ObjectMeta: named("p", labels)}
	if kind != "" {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: by, Controller: &yes}}
	}
	return p
}

// (D-19) Pods that state no constraint have the defaults, for those pods that kube-scheduler would count: what its Services
// select and what its owner selects. That does not depend on which object is seen first, nor on what was there before.
func TestDefaultSpread(t *testing.T) {
	type is map[string]string
	service := func(name string, selector is) func(*cluster.Cluster, bool) {
		s := &corev1.Service{ObjectMeta: named(name, nil), Spec: corev1.ServiceSpec{Selector: selector}}
		return func(c *cluster.Cluster, there bool) {
			if !there {
				c.DeleteService(world.Key{Namespace: "d", Name: name})
				return
			}
			c.SetService(s)
		}
	}
	set := func(kind, name string, selector *metav1.LabelSelector) func(*cluster.Cluster, bool) {
		k := world.Key{Namespace: "d", Name: name}
		return func(c *cluster.Cluster, there bool) {
			switch {
			case kind == observe.ReplicaSet && there:
				c.SetReplicaSet(&appsv1.ReplicaSet{ObjectMeta: named(name, nil), Spec: appsv1.ReplicaSetSpec{Selector: selector}})
			case kind == observe.ReplicaSet:
				c.DeleteReplicaSet(k)
			case kind == observe.StatefulSet && there:
				c.SetStatefulSet(&appsv1.StatefulSet{ObjectMeta: named(name, nil), Spec: appsv1.StatefulSetSpec{Selector: selector}})
			case kind == observe.StatefulSet:
				c.DeleteStatefulSet(k)
			case there:
				c.SetReplicationController(&corev1.ReplicationController{ObjectMeta: named(name, nil), Spec: corev1.ReplicationControllerSpec{Selector: selector.MatchLabels}})
			default:
				c.DeleteReplicationController(k)
			}
		}
	}
	app := is{"app": "web", "hash": "1"}
	stating := made("ReplicaSet", "apps/v1", "web", app)
	stating.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 0}}
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		with []func(*cluster.Cluster, bool)
		want []is // the labels that pods which count have, one after the other; nil: no constraint
	}{
		"nothing selects it":       {pod: made("", "", "", app)},
		"a Service":                {pod: made("", "", "", app), with: []func(*cluster.Cluster, bool){service("a", is{"app": "web"}), service("b", is{"app": "other"}), service("c", nil)}, want: []is{{"app": "web"}}},
		"two Services":             {pod: made("", "", "", app), with: []func(*cluster.Cluster, bool){service("a", is{"app": "web"}), service("b", is{"hash": "1"})}, want: []is{{"app": "web"}, {"hash": "1"}}},
		"a Service without labels": {pod: made("", "", "", app), with: []func(*cluster.Cluster, bool){service("a", is{})}},
		"a ReplicaSet":             {pod: made("ReplicaSet", "apps/v1", "web", app), with: []func(*cluster.Cluster, bool){set(observe.ReplicaSet, "web", &metav1.LabelSelector{MatchLabels: app})}, want: []is{{"app": "web"}, {"hash": "1"}}},
		"of another kind":          {pod: made("ReplicaSet", "apps/v1", "web", app), with: []func(*cluster.Cluster, bool){set(observe.StatefulSet, "web", &metav1.LabelSelector{MatchLabels: app})}},
		"of another group":         {pod: made("ReplicaSet", "other/v1", "web", app), with: []func(*cluster.Cluster, bool){set(observe.ReplicaSet, "web", &metav1.LabelSelector{MatchLabels: app})}},
		"expressions and a Service": {
			pod: made("StatefulSet", "apps/v1", "db", is{"app": "db", "tier": "a"}),
			with: []func(*cluster.Cluster, bool){
				service("db", is{"app": "db"}),
				set(observe.StatefulSet, "db", &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpIn, Values: []string{"a"}}}}),
			},
			want: []is{{"app": "db"}, {"tier": "a"}},
		},
		"a ReplicationController":     {pod: made("ReplicationController", "v1", "old", is{"app": "old"}), with: []func(*cluster.Cluster, bool){set("", "old", &metav1.LabelSelector{MatchLabels: is{"app": "old"}})}, want: []is{{"app": "old"}}},
		"a Job by its Service":        {pod: made("Job", "batch/v1", "j", app), with: []func(*cluster.Cluster, bool){service("a", is{"app": "web"})}, want: []is{{"app": "web"}}},
		"a DaemonSet":                 {pod: made("DaemonSet", "apps/v1", "ds", app), with: []func(*cluster.Cluster, bool){service("a", is{"app": "web"})}},
		"one that states constraints": {pod: stating, with: []func(*cluster.Cluster, bool){service("a", is{"app": "web"})}},
	} {
		t.Run(name, func(t *testing.T) {
			defaults := zonesAndNodes()
			var want []world.Spread
			if c.want != nil {
				selector := world.Selector{Some: true}
				for _, w := range c.want {
					for k, v := range w {
						selector.Set = selector.Set.And(label.Requirement{Key: k, Present: true, Values: []string{v}})
					}
				}
				for _, s := range defaults {
					s.Selector = selector
					want = append(want, s)
				}
			}
			check := func(when string, p *cluster.Cluster, want []world.Spread) {
				t.Helper()
				if diff := cmp.Diff(want, p.World().Pod(world.Key{Namespace: "d", Name: "p"}).Spread); diff != "" {
					t.Errorf("%s: -want +got\n%s", when, diff)
				}
			}
			for first := range len(c.with) + 1 { // of what selects it, are seen before the pod
				p := cluster.New(clock.At(noon))
				p.SetDefaultSpread(defaults)
				for _, see := range c.with[:first] {
					see(p, true)
				}
				p.SetPod(c.pod)
				for _, see := range c.with[first:] {
					see(p, true)
				}
				check(fmt.Sprint("after ", first), p, want)
				for _, see := range c.with {
					see(p, false)
				}
				check("when all is deleted", p, nil)
			}
			p := cluster.New(clock.At(noon))
			for _, see := range c.with {
				see(p, true)
			}
			p.SetPod(c.pod)
			check("without defaults", p, nil)
		})
	}
}

// The virtual pods of a CapacityBuffer have the constraints that the pods they stand for would have.
func TestDefaultSpreadOfBuffers(t *testing.T) {
	c := cluster.New(clock.At(noon))
	c.SetDefaultSpread(zonesAndNodes())
	c.SetService(&corev1.Service{ObjectMeta: named("web", nil), Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"}}})
	k := world.Key{Namespace: "d", Name: "buffer-1"}
	c.SetBuffer(world.Key{Namespace: "d", Name: "buffer"}, []world.Pod{{Key: k, UID: "1", Labels: map[string]string{"app": "web"}}})
	if got := c.World().Pod(k).Spread; len(got) != 2 || !got[0].Default {
		t.Errorf("a virtual pod has %v, want the two defaults", got)
	}
	c.DeleteService(world.Key{Namespace: "d", Name: "web"})
	if got := c.World().Pod(k).Spread; got != nil {
		t.Errorf("without its Service it has %v, want none", got)
	}
}

// A cluster state with defaults is not whole before it knows which pods count.
func TestDefaultSpreadWaits(t *testing.T) {
	c := cluster.New(clock.At(noon), "a")
	c.SetDefaultSpread(nil)
	if diff := cmp.Diff([]string{"a"}, c.Missing()); diff != "" {
		t.Errorf("without defaults: -want +got\n%s", diff)
	}
	c.SetDefaultSpread(zonesAndNodes())
	if diff := cmp.Diff([]string{"a", "replicasets", "replicationcontrollers", "services", "statefulsets"}, c.Missing()); diff != "" {
		t.Errorf("with defaults: -want +got\n%s", diff)
	}
}
