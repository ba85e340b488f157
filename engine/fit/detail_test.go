package fit_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// Where DaemonSets run: their pods tolerate what Kubernetes has them tolerate, with that effect only.
func TestRuns(t *testing.T) {
	taint := func(key, effect string) fit.Place {
		return fit.Place{Labels: map[string]string{"zone": "a"}, Taints: []world.Taint{{Key: key, Effect: effect}}}
	}
	zone := world.Pod{NodeSelector: label.SetOf(label.Is("zone", "b"))}
	for name, tc := range map[string]struct {
		why  string
		pod  world.Pod
		at   fit.Place
		want bool
	}{
		"Lost":         {"It stays on a node that is not ready.", world.Pod{}, taint("node.kubernetes.io/not-ready", world.NoExecute), true},
		"Joining":      {"But is not scheduled to one.", world.Pod{}, taint("node.kubernetes.io/not-ready", world.NoSchedule), false},
		"Unreachable":  {"It stays on one that is out of reach.", world.Pod{}, taint("node.kubernetes.io/unreachable", world.NoExecute), true},
		"Pressure":     {"It is scheduled to a node under pressure.", world.Pod{}, taint("node.kubernetes.io/disk-pressure", world.NoSchedule), true},
		"Evicted":      {"Unless pods are evicted there.", world.Pod{}, taint("node.kubernetes.io/disk-pressure", world.NoExecute), false},
		"Soft":         {"A soft taint keeps nothing away.", world.Pod{}, taint("x", world.PreferNoSchedule), true},
		"Other":        {"Any other taint does.", world.Pod{}, taint("x", world.NoSchedule), false},
		"Tolerated":    {"Unless its own tolerations accept it.", world.Pod{Tolerations: []world.Toleration{{Key: "x", Exists: true}}}, taint("x", world.NoSchedule), true},
		"OtherEffect":  {"For that effect.", world.Pod{Tolerations: []world.Toleration{{Key: "x", Exists: true, Effect: world.NoExecute}}}, taint("x", world.NoSchedule), false},
		"EqualEffect":  {"Which may be named.", world.Pod{Tolerations: []world.Toleration{{Key: "x", Exists: true, Effect: world.NoSchedule}}}, taint("x", world.NoSchedule), true},
		"NotSelected":  {"Its selector asks for another zone.", zone, fit.Place{Labels: map[string]string{"zone": "a"}}, false},
		"SelectedThen": {"Or for this one.", zone, fit.Place{Labels: map[string]string{"zone": "b"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fit.Runs(&world.DaemonSet{Pod: tc.pod}, &tc.at); got != tc.want {
				t.Errorf("%s Runs says %t", tc.why, got)
			}
		})
	}
	terms := world.Pod{NodeTerms: []world.NodeTerm{{Labels: label.SetOf(label.Is("zone", "b"))}}}
	for why, tc := range map[string]struct {
		pod  world.Pod
		want bool
	}{"nothing": {world.Pod{}, false}, "a selector": {zone, true}, "a term": {terms, true}} {
		if got := fit.Particular(&world.DaemonSet{Pod: tc.pod}); got != tc.want {
			t.Errorf("with %s it depends on labels: %t", why, got)
		}
	}
}

// What a pod demands of labels is a list of alternatives, each of its own kind.
func TestDemands(t *testing.T) {
	a, b := label.SetOf(label.Is("zone", "a")), label.SetOf(label.Is("zone", "b"))
	name := label.Is("metadata.name", "n1")
	pod := world.Pod{
		NodeSelector: a, NodeTerms: []world.NodeTerm{{Labels: a}, {Labels: b, Name: &name}},
		Volumes: []world.Volume{{ID: "anywhere"}, {ID: "everywhere", Places: []label.Set{a, nil}}, {ID: "there", Places: []label.Set{a, b}}},
	}
	var got [][]world.NodeTerm
	for _, d := range fit.Demands(&pod) {
		got = append(got, d.Alternatives())
	}
	want := [][]world.NodeTerm{{{Labels: a}}, {{Labels: a}, {Labels: b, Name: &name}}, {{Labels: a}, {Labels: b}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if n := len(fit.Demands(&world.Pod{})); n != 0 {
		t.Errorf("a pod that asks for nothing has %d demands", n)
	}
}

// Which terms of node affinity no machine meets that is only planned.
func TestNamesNone(t *testing.T) {
	is, not := label.Is("metadata.name", "n1"), requirement(t, "metadata.name", label.NotIn, "n1")
	zone := label.SetOf(label.Is("zone", "a"))
	for why, tc := range map[string]struct {
		term world.NodeTerm
		want bool
	}{
		"an empty one": {world.NodeTerm{}, true}, "a name": {world.NodeTerm{Name: &is}, true}, "a name and a label": {world.NodeTerm{Name: &is, Labels: zone}, true},
		"another name": {world.NodeTerm{Name: &not}, false}, "a label": {world.NodeTerm{Labels: zone}, false},
	} {
		if got := fit.NamesNone(tc.term); got != tc.want {
			t.Errorf("%s: %t", why, got)
		}
	}
}

// Pods that a rule may tell apart have different identities.
func TestIdentities(t *testing.T) {
	a, b := label.SetOf(label.Is("zone", "a")), label.SetOf(label.Is("zone", "b"))
	n1, n2 := label.Is("metadata.name", "n1"), label.Is("metadata.name", "n2")
	pods := []world.Pod{
		{},
		{NodeSelector: a},
		{NodeSelector: b},
		{NodeTerms: []world.NodeTerm{{Labels: a}}},
		{NodeTerms: []world.NodeTerm{{Labels: a}, {Labels: b}}},
		{NodeTerms: []world.NodeTerm{{Labels: a, Name: &n1}}},
		{NodeTerms: []world.NodeTerm{{Labels: a, Name: &n2}}},
		{Tolerations: []world.Toleration{{Key: "x", Exists: true}}},
		{Tolerations: []world.Toleration{{Key: "x"}}},
		{Tolerations: []world.Toleration{{Key: "x", Value: "y"}}},
		{Tolerations: []world.Toleration{{Key: "x", Value: "y", Effect: world.NoSchedule}}},
		{Volumes: []world.Volume{{ID: "v", Places: []label.Set{a}}}},
		{Volumes: []world.Volume{{ID: "v", Places: []label.Set{b}}}},
		{Volumes: []world.Volume{{ID: "v", Places: []label.Set{a, b}}}},
	}
	for i := range pods {
		for j := range pods {
			if same := bytes.Equal(fit.AppendIdentity(nil, &pods[i]), fit.AppendIdentity(nil, &pods[j])); same != (i == j) {
				t.Errorf("pods %d and %d have one identity: %t", i, j, same)
			}
		}
	}
	anywhere := world.Pod{Volumes: []world.Volume{{ID: "v"}}}
	if !bytes.Equal(fit.AppendIdentity(nil, &pods[0]), fit.AppendIdentity(nil, &anywhere)) {
		t.Error("a volume that is reached from everywhere tells pods apart")
	}
}

// formed is the place of node n, whose claim is c, at a time.
func formed(t *testing.T, at int64, n world.Node, c *world.Claim) (*world.World, fit.Place) {
	t.Helper()
	pool := world.PoolID{Kind: world.NodePool, Name: "p"}
	n.Name, n.Pool, n.Claim = "n", pool, "c"
	b := world.NewBuilder()
	errs := []error{b.SetNode(n)}
	if c != nil {
		c.Name, c.Node, c.Pool, c.Template = "c", "n", pool, "t"
		errs = append(errs, b.SetClaim(*c))
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	w := b.Snapshot(at)
	return w, fit.Of(w, w.Place("n"))
}

// Which taints of a node that joins pods have to tolerate.
func TestTaintsWhileJoining(t *testing.T) {
	const now = 10_000
	unregistered := world.Taint{Key: "karpenter.sh/unregistered", Effect: world.NoExecute}
	unreachable := world.Taint{Key: "node.kubernetes.io/unreachable", Effect: world.NoExecute}
	passing := []world.Taint{
		{Key: "node.kubernetes.io/not-ready", Effect: world.NoExecute},
		{Key: "node.cloudprovider.kubernetes.io/uninitialized", Effect: world.NoSchedule},
		{Key: "readiness.k8s.io/x", Effect: world.NoExecute},
	}
	odd := []world.Taint{
		{Key: "node.kubernetes.io/not-ready", Effect: world.PreferNoSchedule},
		{Key: "node.cloudprovider.kubernetes.io/uninitialized", Effect: world.NoExecute},
		{Key: "karpenter.sh/unregistered", Effect: world.NoSchedule},
	}
	young := func() *world.Claim { return &world.Claim{Launched: true, Registered: true} }
	startup := world.Taint{Key: "wait", Effect: world.NoExecute}
	nearly := []world.Taint{{Key: "wait", Effect: world.NoSchedule}, {Key: "own", Effect: world.NoExecute}}
	prepared := &world.Claim{Launched: true, Registered: true, StartupTaints: []world.Taint{startup}}
	for name, tc := range map[string]struct {
		why   string
		node  world.Node
		claim *world.Claim
		want  []world.Taint
	}{
		"Passing":       {"They go by themselves.", world.Node{Taints: passing}, young(), nil},
		"OtherEffects":  {"With other effects nothing takes them away.", world.Node{Taints: odd}, young(), odd},
		"Registering":   {"It is about to be registered.", world.Node{Taints: []world.Taint{unregistered}}, young(), nil},
		"WithoutClaim":  {"Nothing registers a node without a claim.", world.Node{Taints: []world.Taint{unregistered}}, nil, []world.Taint{unregistered}},
		"Startup":       {"Something still prepares it, and takes its own taint away.", world.Node{Taints: []world.Taint{startup}}, prepared, nil},
		"StartupElse":   {"And no other.", world.Node{Taints: nearly}, prepared, nearly},
		"OutOfReach":    {"It may come back.", world.Node{Taints: []world.Taint{unreachable}, Unready: now - 300}, young(), nil},
		"Lost":          {"It has been out of reach for too long.", world.Node{Taints: []world.Taint{unreachable}, Unready: now - 301}, young(), []world.Taint{unreachable}},
		"NeverReady":    {"It is not known since when.", world.Node{Taints: []world.Taint{unreachable}}, young(), nil},
		"JustComplete":  {"Its node says so only later.", world.Node{Taints: passing}, &world.Claim{Initialized: true, InitializedAt: now - 60}, nil},
		"LongCompleted": {"A node is never that late.", world.Node{Taints: passing}, &world.Claim{Initialized: true, InitializedAt: now - 61}, passing},
	} {
		t.Run(name, func(t *testing.T) {
			_, at := formed(t, now, tc.node, tc.claim)
			if diff := cmp.Diff(tc.want, at.Taints, cmp.Transformer("some", func(ts []world.Taint) []world.Taint { return append([]world.Taint{}, ts...) })); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
}

// A complete node that has just stopped being ready is about to be ready again, so long as nothing else is wrong.
func TestBlinks(t *testing.T) {
	const now = 10_000
	notReady := []world.Taint{{Key: "node.kubernetes.io/not-ready", Effect: world.NoSchedule}}
	complete := func() *world.Claim { return &world.Claim{Initialized: true, InitializedAt: 1} }
	labels := map[string]string{label.Initialized: "true"}
	for name, tc := range map[string]struct {
		why   string
		node  world.Node
		claim *world.Claim
		want  bool
	}{
		"Just":        {"It stopped a minute ago.", world.Node{Unready: now - 60, Taints: notReady, Labels: labels}, complete(), true},
		"Unreachable": {"Or is out of reach.", world.Node{Unready: now - 1, Taints: []world.Taint{{Key: "node.kubernetes.io/unreachable"}}, Labels: labels}, complete(), true},
		"Long":        {"It stopped longer ago.", world.Node{Unready: now - 61, Taints: notReady, Labels: labels}, complete(), false},
		"Unknown":     {"It is not known since when.", world.Node{Taints: notReady, Labels: labels}, complete(), false},
		"Ready":       {"It is ready.", world.Node{Ready: true, Unready: now - 1, Taints: notReady, Labels: labels}, complete(), false},
		"Forming":     {"It was never complete.", world.Node{Unready: now - 1, Taints: notReady}, &world.Claim{}, false},
		"Untainted":   {"No taint goes.", world.Node{Unready: now - 1, Labels: labels}, complete(), false},
		"OtherTaint":  {"Nor does another one.", world.Node{Unready: now - 1, Taints: []world.Taint{{Key: "x"}}, Labels: labels}, complete(), false},
	} {
		t.Run(name, func(t *testing.T) {
			w, at := formed(t, now, tc.node, tc.claim)
			back, got := fit.Blinks(w.Place("n"), &at, now)
			if got != tc.want || got && len(back.Taints) != 0 {
				t.Errorf("%s %t, back as %+v", tc.why, got, back)
			}
		})
	}
	if _, blinks := fit.Blinks(&world.Place{Claim: &world.Claim{}}, &fit.Place{}, now); blinks {
		t.Error("what has no node stops being ready")
	}
	w, at := formed(t, now, world.Node{Unready: now - 1, Taints: notReady}, nil)
	m := *w.Place("n")
	n := *m.Node
	n.Pool = world.PoolID{}
	m.Node = &n
	if _, blinks := fit.Blinks(&m, &at, now); blinks {
		t.Error("a node of no pool is waited for")
	}
}

// What a rule says of a place that it refuses.
func TestDetails(t *testing.T) {
	zone := label.SetOf(label.Is("zone", "b"))
	n2 := label.Is("metadata.name", "n2")
	at := fit.Place{
		Name: "n1", Labels: map[string]string{"zone": "a"}, Free: amount.Of(amount.Entry{Name: amount.CPU, Value: 500}, amount.Entry{Name: "x", Value: 1000}), Ports: []world.Port{{IP: "10.0.0.1", Port: 80}},
		Caps: fit.Caps{Limits: []world.DriverLimit{{Driver: "ebs", Count: 1}}},
	}
	for name, tc := range map[string]struct {
		pod  world.Pod
		want string
	}{
		"Resources": {world.Pod{Requests: amount.Of(amount.Entry{Name: amount.CPU, Value: 501}, amount.Entry{Name: "x", Value: 1000})}, "cpu wants 501m, has 500m"},
		"Port":      {world.Pod{Ports: []world.Port{{Port: 80}}}, "0.0.0.0/TCP/80 meets 10.0.0.1/TCP/80"},
		"Term":      {world.Pod{NodeTerms: []world.NodeTerm{{Labels: zone}}}, "zone In [b] not in zone In [a]"},
		"Terms":     {world.Pod{NodeTerms: []world.NodeTerm{{Labels: zone}, {}}}, "none of the pod's node affinity terms holds (zone In [b] not in zone In [a]; the pod's node affinity term is empty, which accepts no node)"},
		"Name":      {world.Pod{NodeTerms: []world.NodeTerm{{Name: &n2}}}, "metadata.name In [n2], but the name is n1"},
		"NameZone":  {world.Pod{NodeTerms: []world.NodeTerm{{Name: &n2, Labels: zone}}}, "metadata.name In [n2], but the name is n1"},
		"Volumes":   {world.Pod{Volumes: []world.Volume{{ID: "v", Driver: "ebs"}, {ID: "w", Driver: "ebs"}, {ID: "free"}}}, "ebs attaches 1, has 0, wants 2 more"},
		"Exactly":   {world.Pod{Volumes: []world.Volume{{ID: "v", Driver: "ebs"}}}, ""},
		"Reach":     {world.Pod{Volumes: []world.Volume{{ID: "v", Places: []label.Set{zone}}, {ID: "w", Places: []label.Set{zone}}}}, "v is only reached from zone In [b]"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, w := range fit.Objections(&tc.pod, &at) {
				w.Subject = ""
				got += w.Said()
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if fit.Fits(&tc.pod, &at) != (tc.want == "") {
				t.Errorf("Fits is %t", fit.Fits(&tc.pod, &at))
			}
		})
	}
}

// A machine that attaches too many volumes already still takes pods that bring none of that driver.
func TestOverfull(t *testing.T) {
	at := fit.Place{Name: "n1", Caps: fit.Caps{Limits: []world.DriverLimit{{Driver: "ebs", Count: 0}}, Attached: []fit.Attached{{Driver: "ebs", ID: "v"}}}}
	pod := world.Pod{Volumes: []world.Volume{{ID: "w", Driver: "efs"}}}
	if !fit.Fits(&pod, &at) || len(fit.Objections(&pod, &at)) > 0 {
		t.Errorf("%v", fit.Objections(&pod, &at))
	}
	at.Put(&world.Pod{Volumes: []world.Volume{{ID: "free"}, {ID: "w", Driver: "efs"}, {ID: "w", Driver: "efs"}}})
	if diff := cmp.Diff([]fit.Attached{{Driver: "ebs", ID: "v"}, {Driver: "efs", ID: "w"}}, at.Attached); diff != "" {
		t.Error(diff)
	}
}

// A DaemonSet that runs on a node already asks for no more room there; one of another namespace does.
func TestMissingDaemons(t *testing.T) {
	b := world.NewBuilder()
	daemon := func(namespace, name string, milli int64) world.DaemonSet {
		return world.DaemonSet{Key: world.Key{Namespace: namespace, Name: name}, Pod: world.Pod{Key: world.Key{Namespace: namespace}, DaemonSet: name, Requests: cpu(milli)}}
	}
	if err := errors.Join(
		b.SetNode(world.Node{Name: "n", Allocatable: cpu(1000), Ready: true}), b.SetDaemonSet(daemon("a", "log", 100)), b.SetDaemonSet(daemon("b", "log", 20)), b.SetDaemonSet(daemon("a", "net", 3)),
		b.SetPod(world.Pod{Key: world.Key{Namespace: "a", Name: "log-1"}, DaemonSet: "log", Node: "n", Requests: cpu(70)}),
	); err != nil {
		t.Fatal(err)
	}
	w := b.Snapshot(0)
	if got := fit.Of(w, w.Place("n")).Free.Value(amount.CPU); got != 1000-70-23 {
		t.Errorf("%d are free, want 907", got)
	}
}

// How many volumes a machine attaches of which no node says so yet.
func TestLimitsWhileJoining(t *testing.T) {
	limit := func(driver string, n int) world.DriverLimit { return world.DriverLimit{Driver: driver, Count: n} }
	catalog := world.Catalog{Template: "t", Shapes: []world.Shape{
		{Name: "small", VolumeLimits: []world.DriverLimit{limit("ebs", 3), limit("efs", 5)}},
		{Name: "large", VolumeLimits: []world.DriverLimit{limit("nvme", 1), limit("ebs", 2), limit("efs", 6)}},
		{Name: "other", VolumeLimits: []world.DriverLimit{limit("ebs", 1)}},
	}}
	pool := world.PoolID{Kind: world.NodePool, Name: "p"}
	b := world.NewBuilder()
	node := world.Node{Name: "n", Pool: pool, Claim: "d", Labels: map[string]string{label.InstanceType: "small"}, VolumeLimits: []world.DriverLimit{limit("ebs", 9)}}
	if err := errors.Join(
		b.SetCatalog(catalog), b.SetNode(node), b.SetClaim(world.Claim{Name: "d", Node: "n", Pool: pool, Template: "t"}),
		b.SetClaim(world.Claim{Name: "c", Pool: pool, Template: "t", Requirements: label.SetOf(label.Is(label.InstanceType, "small", "large"))}),
	); err != nil {
		t.Fatal(err)
	}
	w := b.Snapshot(0)
	if diff := cmp.Diff([]world.DriverLimit{limit("ebs", 2), limit("efs", 5), limit("nvme", 1)}, fit.Of(w, w.Place("c")).Limits); diff != "" {
		t.Errorf("of types that a claim may become the least counts: -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]world.DriverLimit{limit("ebs", 9), limit("efs", 5)}, fit.Of(w, w.Place("n")).Limits); diff != "" {
		t.Errorf("what a node says counts before what its type has: -want +got\n%s", diff)
	}
}
