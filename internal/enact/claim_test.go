package enact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/annotation"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/metric"
)

// A claim has what its pool's template says and what was asked for, and nothing is
// written to the template, of which the next claim is made.
func TestClaimOf(t *testing.T) {
	never := int64(3600)
	for name, tc := range map[string]struct {
		why      string
		template *v1.NodeClaim
		ask      plan.Ask
		labels   map[string]string
		notes    map[string]string // some of them
		lacks    []string          // annotations
		expires  time.Duration
	}{
		"NodePool": {
			why: "It carries the class, by which it is known to be ours, and the hash, by which drift is seen.",
			template: fromNodePool(&v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: v1.NodePoolSpec{Template: v1.NodeClaimTemplate{
				Spec: v1.NodeClaimTemplateSpec{NodeClassRef: &v1.NodeClassReference{Group: "g", Kind: "Kind", Name: "c"}, ExpireAfter: v1.After(time.Hour)},
			}}}),
			ask:     plan.Ask{Labels: map[string]string{"team": "a"}, Pods: []world.Key{{Namespace: "d", Name: "web"}}},
			labels:  map[string]string{v1.LabelNodePool: "p", v1.LabelNodeClass("g", "Kind"): "c", "team": "a"},
			notes:   map[string]string{annotation.Pods: "d/web", v1.AnnotationMinValuesRelaxed: "false", v1.AnnotationPoolHashVersion: v1.HashVersion},
			lacks:   []string{v1.AnnotationRequestedDRADrivers},
			expires: time.Hour,
		},
		"NoClass": {
			why:      "A pool without a class is an error of its own, told elsewhere.",
			template: fromNodePool(&v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}),
			labels:   map[string]string{v1.LabelNodePool: "p"},
		},
		"Relaxed": {
			why:      "What minValues were not honoured is told on the claim, and which drivers its pods need.",
			template: fromNodePool(&v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}),
			ask:      plan.Ask{Relaxed: true, Drivers: []string{"gpu.example.com"}},
			labels:   map[string]string{v1.LabelNodePool: "p"},
			notes:    map[string]string{v1.AnnotationMinValuesRelaxed: "true", v1.AnnotationRequestedDRADrivers: "gpu.example.com"},
		},
		"Provisioner": {
			why:      "Its seconds are seconds.",
			template: fromProvisioner(&v1alpha5.Provisioner{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: v1alpha5.ProvisionerSpec{ProviderRef: &v1alpha5.ProviderRef{Name: "c"}, TTLSecondsUntilExpired: &never}}),
			labels:   map[string]string{v1alpha5.LabelProvisioner: "p", v1.LabelNodeClass("karpenter.k8s.aws", "AWSNodeTemplate"): "c"},
			expires:  time.Hour,
		},
		"ForEver": {
			why:      "Without them its nodes grow as old as they may.",
			template: fromProvisioner(&v1alpha5.Provisioner{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: v1alpha5.ProvisionerSpec{ProviderRef: &v1alpha5.ProviderRef{Name: "c"}}}),
			labels:   map[string]string{v1alpha5.LabelProvisioner: "p", v1.LabelNodeClass("karpenter.k8s.aws", "AWSNodeTemplate"): "c"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := tc.template.DeepCopy()
			c := ClaimOf(tc.ask, tc.template)
			if diff := cmp.Diff(before, tc.template); diff != "" {
				t.Errorf("the template has changed\n%s", diff)
			}
			if diff := cmp.Diff(tc.labels, c.Labels); diff != "" {
				t.Errorf("labels: %s\n-want +got\n%s", tc.why, diff)
			}
			for k, v := range tc.notes {
				if c.Annotations[k] != v {
					t.Errorf("annotation %s is %q, want %q: %s", k, c.Annotations[k], v, tc.why)
				}
			}
			for _, k := range tc.lacks {
				if v, there := c.Annotations[k]; there {
					t.Errorf("annotation %s is %q, want none", k, v)
				}
			}
			if after, some := c.Spec.ExpireAfter.Span(); some != (tc.expires > 0) || after != tc.expires {
				t.Errorf("it expires after %v, want %s: %s", after, tc.expires, tc.why)
			}
			if !slices.Contains(c.Finalizers, v1.Finalizer) || c.GenerateName != "p-" || len(c.OwnerReferences) != 1 || c.OwnerReferences[0].Name != "p" {
				t.Errorf("finalizers %v, generated as %q, owners %v", c.Finalizers, c.GenerateName, c.OwnerReferences)
			}
		})
	}
}

// A claim tells that overlays had a say only if they are of a type that it may become.
func TestOverlaid(t *testing.T) {
	catalog := &world.Catalog{Shapes: []world.Shape{
		{Name: "plain", Offers: []world.Offer{{Zone: "a"}}}, {Name: "capacity", Overlaid: true}, {Name: "price", Offers: []world.Offer{{Zone: "a"}, {Zone: "b", Overlaid: true}}},
	}}
	for shape, want := range map[string]map[string]string{
		"plain": nil, "capacity": {v1.AnnotationCapacityOverlay: "true"}, "price": {v1.AnnotationPriceOverlay: "true"}, "another": nil,
	} {
		c := &v1.NodeClaim{}
		overlaid(c, plan.Ask{Menu: []plan.Choice{{Shape: shape}}}, catalog)
		if diff := cmp.Diff(want, c.Annotations); diff != "" {
			t.Errorf("%s: -want +got\n%s", shape, diff)
		}
	}
}

func TestMenuText(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "a", 5: "a, b, c, d, e", 6: "a, b, c, d, e and 1 other(s)", 8: "a, b, c, d, e and 3 other(s)"} {
		var a plan.Ask
		for i := range n {
			a.Menu = append(a.Menu, plan.Choice{Shape: string(rune('a' + i))})
		}
		if got := menuText(a); got != want {
			t.Errorf("%d types are named %q, want %q", n, got, want)
		}
	}
}

// What is not there, or is of a kind that is not known, is told by its name.
func TestTemplatesOfNoPool(t *testing.T) {
	e, _ := counted(t)
	for id, want := range map[world.PoolID]string{
		{Kind: world.NodePool, Name: "p"}: `node pool "p": `, {Kind: world.Provisioner, Name: "p"}: `provisioner "p": `, {Kind: "Pond", Name: "p"}: `pool "p" is of unknown kind "Pond"`,
	} {
		if _, err := e.Template(t.Context(), id); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v: it says %v, want %s", id, err, want)
		}
	}
}

// told is what the metrics say, by name and labels, without those that were not asked for.
func told(t *testing.T, g prometheus.Gatherer, names ...string) map[string]float64 {
	t.Helper()
	families, err := g.Gather()
	must(t, err)
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			text := f.GetName()
			for _, l := range m.GetLabel() {
				text += " " + l.GetName() + "=" + l.GetValue()
			}
			if slices.Contains(names, f.GetName()) {
				out[text] = m.GetCounter().GetValue()
			}
		}
	}
	return out
}

// measured is an Enactor over a store with metrics.
func measured(t *testing.T, objects ...client.Object) (*Enactor, *prometheus.Registry) {
	e, _ := counted(t, objects...)
	registry := prometheus.NewRegistry()
	set, err := metric.New(registry, nil)
	must(t, err)
	e.Metrics, e.Cluster = set, cluster.New(clock.Wall)
	return e, registry
}

// A claim is deleted once, is counted with why and how, and those of its pods are
// counted that have to find another place. Another that has its name is left alone.
func TestRelease(t *testing.T) {
	for name, tc := range map[string]struct {
		why     string
		policy  v1.ConsolidationPolicy
		grace   *metav1.Duration
		reason  string
		counted [2]string // as of which policy, and how pods leave
		bare    bool      // no node has joined
	}{
		"Empty":         {"Consolidation is told by its policy.", v1.WhenEmpty, nil, Empty, [2]string{"when_empty", "graceful"}, false},
		"Underutilized": {"So it is here.", v1.WhenEmptyOrUnderutilized, &metav1.Duration{}, Underutilized, [2]string{"when_empty_or_underutilized", "forceful"}, false},
		"Balanced":      {"And here.", v1.Balanced, &metav1.Duration{Duration: time.Second}, Underutilized, [2]string{"balanced", "eventual"}, false},
		"Unset":         {"A pool that says nothing has none.", "", nil, Empty, [2]string{"", "graceful"}, false},
		"Drifted":       {"Drift is no consolidation.", v1.WhenEmpty, nil, Drifted, [2]string{"", "graceful"}, false},
		"Launching":     {"It has no node, so no pod has to find another place.", v1.WhenEmpty, nil, LaunchTimeout, [2]string{"", "graceful"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
			pool.Spec.Disruption.ConsolidationPolicy = tc.policy
			c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{v1.LabelNodePool: "p", v1.LabelCapacityType: "spot"}, Finalizers: []string{v1.Finalizer}}}
			c.Spec.TerminationGracePeriod = tc.grace
			if !tc.bare {
				c.Status.NodeName, c.Status.ProviderID = "n", "i"
			}
			e, registry := measured(t, pool, c)
			e.Cluster.SetClaim(c)
			e.Cluster.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NodeSpec{ProviderID: "i"}})
			yes := true
			for _, p := range []*corev1.Pod{
				{ObjectMeta: metav1.ObjectMeta{Name: "web"}},
				{ObjectMeta: metav1.ObjectMeta{Name: "api"}},
				{ObjectMeta: metav1.ObjectMeta{Name: "agent", OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent", Controller: &yes}}}},
			} {
				p.Namespace, p.UID, p.Spec.NodeName = "d", types.UID(p.Name), "n"
				e.Cluster.SetPod(p)
			}
			other := c.DeepCopy()
			other.UID = "another"
			if err := e.Release(t.Context(), other, tc.reason); !apierrors.IsConflict(err) {
				t.Errorf("another of that name: %v", err)
			}
			for range 2 {
				must(t, e.Release(t.Context(), c, tc.reason))
				if err := e.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil || c.DeletionTimestamp == nil {
					t.Fatalf("it is not being deleted: %v", err)
				}
			}
			if e.DeletedFor("c") != tc.reason {
				t.Errorf("it was deleted for %q", e.DeletedFor("c"))
			}
			text := fmt.Sprintf(" capacity_type=spot consolidation_policy=%s nodepool=p reason=%s termination_mode=%s", tc.counted[0], tc.reason, tc.counted[1])
			want := map[string]float64{metric.ClaimsDisrupted + text: 1}
			if !tc.bare {
				want[metric.PodsDisruptionInitiated+text] = 2
			}
			if diff := cmp.Diff(want, told(t, registry, metric.ClaimsDisrupted, metric.PodsDisruptionInitiated)); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.why, diff)
			}
			must(t, e.Release(t.Context(), &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "gone"}}, tc.reason))
		})
	}
}

// A machine that has a claim already is not adopted twice, and what was not written is an error.
func TestAdopt(t *testing.T) {
	e, registry := measured(t)
	c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{v1.LabelNodePool: "p"}}}
	for range 3 {
		must(t, e.Adopt(t.Context(), c.DeepCopy()))
	}
	want := map[string]float64{metric.ClaimsCreated + " min_values_relaxed=false nodepool=p reason=adopted": 1}
	if diff := cmp.Diff(want, told(t, registry, metric.ClaimsCreated)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	e.Client = interceptor.NewClient(apitest.New(t, clock.Wall), interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
			return errors.New("no")
		},
	})
	if err := e.Adopt(t.Context(), c); err == nil || !strings.HasPrefix(err.Error(), "adopt c: ") {
		t.Errorf("it says %v", err)
	}
}

// A claim that takes the pods of others says so, one of waiting pods does not, and
// each counts with the pool that it is of.
func TestReplacesIsKept(t *testing.T) {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	e, registry := measured(t, pool)
	n := 0
	e.Suffix = func() string { n++; return fmt.Sprint(n) }
	ask := plan.Ask{Name: "a", Pool: world.PoolID{Kind: world.NodePool, Name: "p"}, Relaxed: true}
	must(t, e.Replace(t.Context(), []plan.Ask{ask}, Drifted, []string{"old-1", "old-2"}))
	_, err := e.Ask(t.Context(), []plan.Ask{ask}, Provisioned)
	must(t, err)
	for name, want := range map[string]string{"p-1": "old-1 old-2", "p-2": ""} {
		c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
		read(t, e, c)
		if got, there := c.Annotations[annotation.Replaces]; got != want || there != (want != "") {
			t.Errorf("%s replaces %q, want %q", name, got, want)
		}
	}
	want := map[string]float64{
		metric.ClaimsCreated + " min_values_relaxed=true nodepool=p reason=drifted":     1,
		metric.ClaimsCreated + " min_values_relaxed=true nodepool=p reason=provisioned": 1,
	}
	if diff := cmp.Diff(want, told(t, registry, metric.ClaimsCreated)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if _, err := e.Ask(t.Context(), []plan.Ask{{Name: "b", Pool: world.PoolID{Kind: world.NodePool, Name: "q"}, Requirements: label.Set{}}}, Provisioned); err == nil || !strings.Contains(err.Error(), "ask for b: node pool \"q\"") {
		t.Errorf("an ask of no pool: %v", err)
	}
}

// A claim is written again only if it may have been made although there was an error.
func TestUnclearAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		err   error
		want  int
		ended bool // the process ends
	}{
		"Made": {nil, 1, false}, "Ends": {context.Canceled, 1, true},
		"Refused": {apierrors.NewForbidden(v1.GroupVersion.WithResource("nodeclaims").GroupResource(), "c", errors.New("a webhook says no")), 1, false},
		"Timeout": {apierrors.NewTimeoutError("slow", 1), 2, false}, "Server": {apierrors.NewServerTimeout(v1.GroupVersion.WithResource("nodeclaims").GroupResource(), "create", 1), 2, false},
		"Inside": {apierrors.NewInternalError(errors.New("etcd")), 2, false}, "Wire": {errors.New("connection reset by peer"), 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := counted(t, &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}})
			tries := 0
			e.Client = interceptor.NewClient(e.Client.(client.WithWatch), interceptor.Funcs{
				Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
					tries++
					return tc.err
				},
			})
			e.Cluster, e.Suffix, e.Log = cluster.New(clock.Wall), func() string { return "x" }, logr.Discard()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			if tc.ended {
				stop()
			}
			if _, err := e.Ask(ctx, []plan.Ask{{Name: "a", Pool: world.PoolID{Kind: world.NodePool, Name: "p"}}}, Provisioned); (err == nil) != (tc.err == nil) || tries != tc.want {
				t.Errorf("tried %d times, want %d: %v", tries, tc.want, err)
			}
		})
	}
}

// A pool is read once for all of its asks, whether it is there or not.
func TestPoolsAreReadOnce(t *testing.T) {
	e, _ := counted(t, &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}})
	reads := map[string]int{}
	e.Client = interceptor.NewClient(e.Client.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			reads[key.Name]++
			return c.Get(ctx, key, o, opts...)
		},
	})
	var n atomic.Int64
	e.Cluster, e.Suffix = cluster.New(clock.Wall), func() string { return fmt.Sprint(n.Add(1)) }
	var asks []plan.Ask
	for _, name := range []string{"a", "b", "c"} {
		asks = append(asks, plan.Ask{Name: name, Pool: world.PoolID{Kind: world.NodePool, Name: "p"}}, plan.Ask{Name: "no-" + name, Pool: world.PoolID{Kind: world.NodePool, Name: "q"}})
	}
	if made, err := e.Ask(t.Context(), asks, Provisioned); len(made) != 3 || err == nil {
		t.Errorf("made %v, %v, want those of the pool that is there", made, err)
	}
	if diff := cmp.Diff(map[string]int{"p": 1, "q": 1}, reads); diff != "" {
		t.Errorf("pools are read so often: -want +got\n%s", diff)
	}
}
