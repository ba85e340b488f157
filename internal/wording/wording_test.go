package wording_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/wording"
)

func amounts(t *testing.T, m map[string]string) amount.List {
	t.Helper()
	l, err := amount.ParseMap(m)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// catalog sells one small and one large type in three zones of a region.
func catalog(t *testing.T, gone ...string) world.Catalog {
	t.Helper()
	c := world.Catalog{Template: "t", Region: "ap-northeast-2"}
	for _, s := range []struct{ name, category, cpu, memory, gpus string }{
		{"c5.large", "c", "2", "4Gi", "0"}, {"m5.4xlarge", "m", "16", "64Gi", "0"}, {"g4dn.xlarge", "g", "4", "16Gi", "1"},
	} {
		shape := world.Shape{
			Name:     s.name,
			Capacity: amounts(t, map[string]string{"cpu": s.cpu, "memory": s.memory, "pods": "30", "nvidia.com/gpu": s.gpus}),
			Labels: label.SetOf(label.Is("karpenter.k8s.aws/instance-category", s.category), label.Is(label.InstanceType, s.name),
				label.Is(label.Arch, "amd64"), label.Is(label.OS, "linux")),
		}
		for _, zone := range []string{"ap-northeast-2a", "ap-northeast-2b", "ap-northeast-2c"} {
			offer := world.Offer{Zone: zone, CapacityType: label.OnDemand, Price: 100_000}
			for _, g := range gone {
				offer.Gone = offer.Gone || g == zone
			}
			shape.Offers = append(shape.Offers, offer)
		}
		c.Shapes = append(c.Shapes, shape)
	}
	return c
}

func provisioner(name string, more ...label.Requirement) world.Pool {
	return world.Pool{
		ID: world.PoolID{Kind: world.Provisioner, Name: name}, Template: "t",
		Requirements: label.SetOf(append(more, label.Is(label.OS, "linux"), label.Is(label.Arch, "amd64"), label.Is(label.CapacityType, label.OnDemand))...),
	}
}

func must[T any](t *testing.T, set func(T) error, items ...T) {
	t.Helper()
	for _, item := range items {
		if err := set(item); err != nil {
			t.Fatal(err)
		}
	}
}

func waiting(t *testing.T, requests map[string]string) world.Pod {
	t.Helper()
	requests["pods"] = "1"
	return world.Pod{Key: world.Key{Namespace: "default", Name: "p"}, UID: "p", Waiting: true, Requests: amounts(t, requests)}
}

func except(key string) label.Requirement { return label.Requirement{Key: key} }

func TestRefusal(t *testing.T) {
	banana := provisioner("banana")
	banana.Taints = []world.Taint{{Key: "example.com/special-taint", Effect: world.NoSchedule}}
	heavy := banana
	heavy.Weight = 10
	node := provisioner("x")
	node.ID.Kind = world.NodePool
	node.Taints = []world.Taint{{Key: "a", Value: "b", Effect: world.NoExecute}, {Key: "c", Effect: world.NoSchedule}}
	gpu := provisioner("gpu")
	gpu.Limits = amounts(t, map[string]string{"cpu": "1"})

	own := waiting(t, map[string]string{"cpu": "1"})
	own.NodeTerms = []world.NodeTerm{{Labels: label.SetOf(except(label.Provisioner))}}
	zoned := waiting(t, map[string]string{})
	zoned.NodeTerms = []world.NodeTerm{{Labels: label.SetOf(label.Is(label.Zone, "antarctica-west1", "antarctica-east1"))}}
	custom := waiting(t, map[string]string{"cpu": "1"})
	custom.NodeSelector = label.SetOf(label.Is("team", "a"))
	strange := waiting(t, map[string]string{"cpu": "1"})
	strange.Spread = []world.Spread{{Key: "kubernetes.io/zone", MaxSkew: 2, Selector: world.Selector{Some: true}}}

	twins := provisioner("twins")
	twins.Taints = []world.Taint{{Key: "team", Value: "red", Effect: world.NoSchedule}, {Key: "other-team", Value: "red", Effect: world.NoSchedule}}

	tests := map[string]struct {
		why   string
		pools []world.Pool
		pod   world.Pod
		want  string
	}{
		"Taint": {
			"A taint without a value is written with its equals sign.",
			[]world.Pool{banana},
			waiting(t, map[string]string{"cpu": "1"}),
			`incompatible with provisioner "banana", did not tolerate example.com/special-taint=:NoSchedule`,
		},
		"TaintsThatEndAlike": {
			"Each taint is named, also where one ends as another is written.",
			[]world.Pool{twins},
			waiting(t, map[string]string{"cpu": "1"}),
			`incompatible with provisioner "twins", did not tolerate team=red:NoSchedule, did not tolerate other-team=red:NoSchedule`,
		},
		"Own": {
			"The controller's own pods forbid the nodes that it makes.",
			[]world.Pool{provisioner("default")},
			own,
			`incompatible with provisioner "default", incompatible requirements, key karpenter.sh/provisioner-name, karpenter.sh/provisioner-name DoesNotExist not in karpenter.sh/provisioner-name In [default]`,
		},
		"Several": {
			"The clauses of several pools are joined, the heaviest first.",
			[]world.Pool{provisioner("default"), heavy},
			own,
			`incompatible with provisioner "banana", did not tolerate example.com/special-taint=:NoSchedule, incompatible requirements, key karpenter.sh/provisioner-name, karpenter.sh/provisioner-name DoesNotExist not in karpenter.sh/provisioner-name In [banana]; ` +
				`incompatible with provisioner "default", incompatible requirements, key karpenter.sh/provisioner-name, karpenter.sh/provisioner-name DoesNotExist not in karpenter.sh/provisioner-name In [default]`,
		},
		"NodePool": {
			"A NodePool is worded likewise, and every taint is named.",
			[]world.Pool{node},
			waiting(t, map[string]string{"cpu": "1"}),
			`incompatible with nodepool "x", did not tolerate a=b:NoExecute, did not tolerate c=:NoSchedule`,
		},
		"Narrowed": {
			"Zones that the pool excludes clash with what the pod demands.",
			[]world.Pool{provisioner("default", label.Is(label.Zone, "ap-northeast-2a"))},
			zoned,
			`incompatible with provisioner "default", incompatible requirements, key topology.kubernetes.io/zone, topology.kubernetes.io/zone In [antarctica-east1 antarctica-west1] not in topology.kubernetes.io/zone In [ap-northeast-2a]`,
		},
		"Nowhere": {
			"Zones that no type is sold in are part of the demand that nothing satisfies; a pod without requests asks for its place alone.",
			[]world.Pool{provisioner("default")},
			zoned,
			`incompatible with provisioner "default", no instance type satisfied resources {"pods":"1"} and requirements karpenter.sh/capacity-type In [on-demand], karpenter.sh/provisioner-name In [default], kubernetes.io/arch In [amd64], kubernetes.io/os In [linux], topology.kubernetes.io/zone In [antarctica-east1 antarctica-west1]`,
		},
		"Undefined": {
			"A label of the user's own has to come from the pool.",
			[]world.Pool{provisioner("default")},
			custom,
			`incompatible with provisioner "default", incompatible requirements, key team, team In [a] not in team DoesNotExist`,
		},
		"Large": {
			"Amounts are written as their owner wrote them.",
			[]world.Pool{provisioner("default", label.Is("karpenter.k8s.aws/instance-category", "c", "m", "t"))},
			waiting(t, map[string]string{"cpu": "100", "memory": "256M"}),
			`incompatible with provisioner "default", no instance type satisfied resources {"cpu":"100","memory":"256M","pods":"1"} and requirements karpenter.k8s.aws/instance-category In [c m t], karpenter.sh/capacity-type In [on-demand], karpenter.sh/provisioner-name In [default], kubernetes.io/arch In [amd64], kubernetes.io/os In [linux]`,
		},
		"Limit": {
			"A limit is named without what is used of it, which changes with every node.",
			[]world.Pool{gpu},
			waiting(t, map[string]string{"cpu": "1"}),
			`all available instance types exceed limits for provisioner "gpu", cpu: limit 1`,
		},
		"StrangeKey": {
			"A topology key that no machine has is said, and breaks nothing.",
			[]world.Pool{provisioner("default")},
			strange,
			`incompatible with provisioner "default", unsatisfiable topology constraint, topology spread, kubernetes.io/zone is not a label there (is topology.kubernetes.io/zone meant?)`,
		},
		"NoPool": {"", nil, waiting(t, map[string]string{"cpu": "1"}), "no provisioners found"},
		"Unit": {
			"A forgotten m is told.",
			nil, waiting(t, map[string]string{"cpu": "1000000"}),
			"cpu asks for 1000000 cores: write thousandths of a core with an m: 500m is half a core; no provisioners found",
		},
		"Invalid": {
			"What is wrong with the pod itself is said as it is.",
			[]world.Pool{banana},
			world.Pod{Key: world.Key{Namespace: "default", Name: "p"}, Waiting: true, Problems: []string{"spec.x is wrong"}},
			"spec.x is wrong",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			must(t, b.SetCatalog, catalog(t))
			must(t, b.SetPool, tc.pools...)
			must(t, b.SetPod, tc.pod)
			w := b.Snapshot(0)
			p := provision.Decide(w, provision.Options{})
			if len(p.Refused) != 1 {
				t.Fatalf("want one refusal: %s", p)
			}
			if diff := cmp.Diff(tc.want, wording.Refusal(w, p.Refused[0])); diff != "" {
				t.Errorf("%s -want +got\n%s\n%s", tc.why, diff, p)
			}
		})
	}
}

// Where spread leaves a pod one zone, and nothing is sold there, the demand that nothing satisfies names that zone.
func TestRefusalNamesTheZonesThatAreLeft(t *testing.T) {
	b := world.NewBuilder()
	must(t, b.SetCatalog, catalog(t, "ap-northeast-2a"))
	must(t, b.SetPool, provisioner("default", label.Is("karpenter.k8s.aws/instance-category", "c", "m", "t")))
	every := []world.Spread{{Key: label.Zone, MaxSkew: 1, Selector: world.Selector{Some: true}}}
	for i, zone := range []string{"ap-northeast-2a", "ap-northeast-2b", "ap-northeast-2c"} {
		name := string(rune('a' + i))
		must(t, b.SetNode, world.Node{
			Name: name, Ready: true, Labels: map[string]string{label.Zone: zone, label.Hostname: name},
			Allocatable: amounts(t, map[string]string{"cpu": "1", "pods": "1"}), Taints: []world.Taint{{Key: "full", Effect: world.NoSchedule}},
		})
		if zone != "ap-northeast-2a" {
			must(t, b.SetPod, world.Pod{Key: world.Key{Namespace: "default", Name: "on-" + name}, UID: name, Node: name, Spread: every})
		}
	}
	pod := waiting(t, map[string]string{"cpu": "1", "memory": "256M"})
	pod.Spread = every
	must(t, b.SetPod, pod)
	w := b.Snapshot(0)
	p := provision.Decide(w, provision.Options{})
	want := `incompatible with provisioner "default", no instance type satisfied resources {"cpu":"1","memory":"256M","pods":"1"} and requirements karpenter.k8s.aws/instance-category In [c m t], karpenter.sh/capacity-type In [on-demand], karpenter.sh/provisioner-name In [default], kubernetes.io/arch In [amd64], kubernetes.io/os In [linux], topology.kubernetes.io/zone In [ap-northeast-2a]`
	if diff := cmp.Diff(want, wording.Refusal(w, p.Refused[0])); diff != "" {
		t.Errorf("-want +got\n%s\n%s", diff, p)
	}
}

func TestLaunching(t *testing.T) {
	ask := plan.Ask{
		Pods: make([]world.Key, 15), Requests: amounts(t, map[string]string{"cpu": "15125m", "pods": "17", "memory": "0"}),
		Menu: []plan.Choice{{Shape: "c3.4xlarge"}, {Shape: "c4.4xlarge"}, {Shape: "r3.4xlarge"}, {Shape: "m4.4xlarge"}, {Shape: "c5.4xlarge"}, {Shape: "x"}, {Shape: "y"}},
	}
	want := `Launching node with 15 pods requesting {"cpu":"15125m","pods":"17"} from types c3.4xlarge, c4.4xlarge, r3.4xlarge, m4.4xlarge, c5.4xlarge and 2 other(s)`
	if diff := cmp.Diff(want, wording.Launching(ask)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	ask.Menu = ask.Menu[:2]
	want = `Launching node with 15 pods requesting {"cpu":"15125m","pods":"17"} from types c3.4xlarge, c4.4xlarge`
	if diff := cmp.Diff(want, wording.Launching(ask)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got, want := wording.Found(plan.Plan{New: []plan.Ask{ask}}), "Found 15 provisionable pod(s)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := wording.Found(plan.Plan{}); got != "" {
		t.Errorf("a plan without anything new says %q", got)
	}
}

func TestQuantities(t *testing.T) {
	for _, written := range []string{"1", "250m", "256M", "1Gi", "1536Mi", "7884Mi", "128M", "1G", "100Ki", "2k"} {
		ask := plan.Ask{Requests: amounts(t, map[string]string{"memory": written}), Shape: "x"}
		want := `Launching node with 0 pods requesting {"memory":"` + written + `"} from types x`
		if got := wording.Launching(ask); got != want {
			t.Errorf("%s: %s", written, got)
		}
	}
}

func TestRelaxed(t *testing.T) {
	const source = `{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{"matchLabels":{"app.kubernetes.io/instance":"karpenter","app.kubernetes.io/name":"karpenter"}}}`
	web := world.Selector{Some: true, Set: label.SetOf(label.Is("app", "web"))}
	pod := world.Pod{
		NodeWishes: []world.NodeWish{{Weight: 1, Term: world.NodeTerm{Labels: label.SetOf(label.Is("another-node-label-key", "another-node-label-value"))}}},
		Spread:     []world.Spread{{Key: label.Zone, MaxSkew: 1, Soft: true, Source: source}},
		PodTerms:   []world.PodTerm{{Key: label.Zone, Selector: web}, {Weight: 7, Key: label.Hostname, Selector: web, Anti: true}},
	}
	const head = "Relaxing soft constraints for pod since it previously failed to schedule, removing: "
	want := []string{
		head + `spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]={"weight":7,"podAffinityTerm":{"labelSelector":{"matchExpressions":[{"key":"app","operator":"In","values":["web"]}]},"topologyKey":"kubernetes.io/hostname"}}`,
		head + `spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]={"weight":1,"preference":{"matchExpressions":[{"key":"another-node-label-key","operator":"In","values":["another-node-label-value"]}]}}`,
		head + `spec.topologySpreadConstraints = ` + source,
	}
	if diff := cmp.Diff(want, wording.RelaxedAll(&pod)); diff != "" {
		t.Errorf("all: -want +got\n%s", diff)
	}
	// The terms as the engine names them.
	var got []string
	for _, of := range []spread.Soft{{Kind: spread.SoftPodTerm, At: 1}, {Kind: spread.SoftNodeTerm}, {Kind: spread.SoftConstraint}} {
		got = append(got, wording.Relaxed(&pod, plan.Loss{Of: of}))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("one by one: -want +got\n%s", diff)
	}
	if got, want := wording.Relaxed(&pod, plan.Loss{Term: "taint a:PreferNoSchedule"}), head+"taint a:PreferNoSchedule"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNominated(t *testing.T) {
	old, today := world.PoolID{Kind: world.Provisioner, Name: "p"}, world.PoolID{Kind: world.NodePool, Name: "p"}
	tests := map[string]struct {
		pool        world.PoolID
		claim, node string
		want        string
	}{
		"a Provisioner's node":  {old, "p-abcde", "ip-192-168-21-5.cn-north-1.compute.internal", "Pod should schedule on ip-192-168-21-5.cn-north-1.compute.internal"},
		"a Provisioner's claim": {old, "p-abcde", "", "Pod should schedule on p-abcde"},
		"a NodePool's claim":    {today, "p-abcde", "", "Pod should schedule on: nodeclaim/p-abcde"},
		"a NodePool's node":     {today, "p-abcde", "n", "Pod should schedule on: nodeclaim/p-abcde, node/n"},
		"somebody else's node":  {world.PoolID{}, "", "n", "Pod should schedule on: node/n"},
	}
	for name, tc := range tests {
		if got := wording.Nominated(tc.pool, tc.claim, tc.node); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}
