package collect_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/annotation"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/controller/collect"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func machine(id string, change ...func(*cloud.Machine)) cloud.Machine {
	m := cloud.Machine{ID: cloud.MachineID(id), ProviderID: id, Order: "o", Launched: noon.Add(-time.Hour)}
	for _, f := range change {
		f(&m)
	}
	return m
}

func node(id string, change ...func(*corev1.Node)) corev1.Node {
	n := corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "node-" + id, Labels: map[string]string{v1.LabelNodePool: "p"}, CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour))},
		Spec:       corev1.NodeSpec{ProviderID: id},
	}
	for _, f := range change {
		f(&n)
	}
	return n
}

func claim(id string, change ...func(*v1.NodeClaim)) v1.NodeClaim {
	c := v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim-" + id}, Status: v1.NodeClaimStatus{ProviderID: id}}
	c.Conditions().True(v1.ConditionLaunched, "", "", noon.Add(-time.Hour))
	for _, f := range change {
		f(&c)
	}
	return c
}

// twice judges the same look twice, as when nothing changes between two.
func twice(s collect.Seen) collect.Verdict {
	s.At = noon.Add(-2 * time.Minute)
	first := collect.Judge(s, collect.Verdict{})
	s.At = noon
	return collect.Judge(s, first)
}

func TestWhichMachinesEnd(t *testing.T) {
	tests := map[string]struct {
		why  string
		seen collect.Seen
		want []string
	}{
		"Alone":   {"No claim knows it.", collect.Seen{Machines: []cloud.Machine{machine("m")}}, []string{"m"}},
		"Claimed": {"Its claim knows it.", collect.Seen{Machines: []cloud.Machine{machine("m")}, Claims: []v1.NodeClaim{claim("m")}}, nil},
		"Joined":  {"Its node has no claim yet, and gets one.", collect.Seen{Machines: []cloud.Machine{machine("m")}, Nodes: []corev1.Node{node("m")}}, nil},
		"Foreign": {"A node without our labels protects it as well.", collect.Seen{Machines: []cloud.Machine{machine("m")}, Nodes: []corev1.Node{node("m", func(n *corev1.Node) { n.Labels = nil })}}, nil},
		"Young":   {"Its claim may be on its way.", collect.Seen{Machines: []cloud.Machine{machine("m", func(m *cloud.Machine) { m.Launched = noon.Add(-4 * time.Minute) })}}, nil},
		"Unsaid":  {"It does not say that we made it.", collect.Seen{Machines: []cloud.Machine{machine("m", func(m *cloud.Machine) { m.Order = "" })}}, nil},
		"Karpenter": {
			"Karpenter made it for this cluster.",
			collect.Seen{Machines: []cloud.Machine{machine("m", func(m *cloud.Machine) { m.Order, m.Tags = "", map[string]string{v1.LabelNodePool: "p"} })}},
			[]string{"m"},
		},
		"Provisioner": {
			"Or an older Karpenter did.",
			collect.Seen{Machines: []cloud.Machine{machine("m", func(m *cloud.Machine) { m.Order, m.Tags = "", map[string]string{"karpenter.sh/provisioner-name": "p"} })}},
			[]string{"m"},
		},
		"Grown": {"Five minutes are enough for its claim.", collect.Seen{Machines: []cloud.Machine{machine("m", func(m *cloud.Machine) { m.Launched = noon.Add(-7 * time.Minute) })}}, []string{"m"}},
		"Waited": {
			"A claim of its order has no machine yet: this may be it.",
			collect.Seen{Machines: []cloud.Machine{machine("m")}, Claims: []v1.NodeClaim{claim("", func(c *v1.NodeClaim) { c.Annotations = map[string]string{v1.AnnotationOrder: "o"} })}},
			nil,
		},
		"Adopted": {
			"It is being adopted.",
			collect.Seen{Machines: []cloud.Machine{machine("m")}, Claims: []v1.NodeClaim{claim("", func(c *v1.NodeClaim) { c.Annotations = map[string]string{annotation.Adopts: "m"} })}},
			nil,
		},
		"Ending": {"It ends already.", collect.Seen{Machines: []cloud.Machine{machine("m", func(m *cloud.Machine) { m.Ending = true })}}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, m := range twice(tc.seen).End {
				got = append(got, string(m.ID))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
			tc.seen.At = noon
			once := collect.Judge(tc.seen, collect.Verdict{})
			tc.seen.At = noon.Add(time.Minute)
			if v := collect.Judge(tc.seen, once); len(once.End)+len(v.End) > 0 {
				t.Error("a machine ends although it has looked lost only just now")
			}
		})
	}
}

// A machine whose node has been deleted takes no pods, and costs.
func TestWhichClaimsAreDeserted(t *testing.T) {
	joined := func(c *v1.NodeClaim) {
		c.Conditions().True(v1.ConditionRegistered, "", "", noon.Add(-time.Hour))
		c.Status.NodeName = "node-m"
	}
	ms := []cloud.Machine{machine("m")}
	for name, tc := range map[string]struct {
		why  string
		seen collect.Seen
		want int
	}{
		"Deleted": {"Its node was there and is not.", collect.Seen{Machines: ms, Claims: []v1.NodeClaim{claim("m", joined)}}, 1},
		"There":   {"It is there.", collect.Seen{Machines: ms, Claims: []v1.NodeClaim{claim("m", joined)}, Nodes: []corev1.Node{node("m")}}, 0},
		"ByName": {
			"It is there, and does not say of which machine.",
			collect.Seen{Machines: ms, Claims: []v1.NodeClaim{claim("m", joined)}, Nodes: []corev1.Node{node("m", func(n *corev1.Node) { n.Spec.ProviderID = "" })}},
			0,
		},
		"Unnamed": {"Which node was its is not known, so the API server cannot be asked for it.", collect.Seen{Machines: ms, Claims: []v1.NodeClaim{claim("m", joined, func(c *v1.NodeClaim) { c.Status.NodeName = "" })}}, 0},
		"Joining": {"It has not joined yet.", collect.Seen{Machines: ms, Claims: []v1.NodeClaim{claim("m")}}, 0},
		"Gone":    {"The machine is gone: that is looked at in another way.", collect.Seen{Claims: []v1.NodeClaim{claim("m", joined)}}, 0},
		"Ending":  {"So is one that ends.", collect.Seen{Machines: []cloud.Machine{machine("m", func(m *cloud.Machine) { m.Ending = true })}, Claims: []v1.NodeClaim{claim("m", joined)}}, 0},
		"Going": {"Its claim goes already.", collect.Seen{Machines: ms, Claims: []v1.NodeClaim{claim("m", joined, func(c *v1.NodeClaim) {
			c.DeletionTimestamp = &metav1.Time{Time: noon}
		})}}, 0},
		"New": {"It has joined just now, and may not be listed yet.", collect.Seen{Machines: ms, Claims: []v1.NodeClaim{claim("m", joined, func(c *v1.NodeClaim) {
			c.Status.Conditions = nil
			c.Conditions().True(v1.ConditionRegistered, "", "", noon.Add(-2*time.Minute))
		})}}, 0},
	} {
		if got := twice(tc.seen); len(got.Deserted) != tc.want {
			t.Errorf("%s: %s %d claims, want %d", name, tc.why, len(got.Deserted), tc.want)
		}
		tc.seen.At = noon
		once := collect.Judge(tc.seen, collect.Verdict{})
		tc.seen.At = noon.Add(2*time.Minute - time.Second)
		if v := collect.Judge(tc.seen, once); len(once.Deserted)+len(v.Deserted) > 0 {
			t.Errorf("%s: a claim is given up whose node has been away only just now", name)
		}
	}
}

// Where many nodes are not there at once none of their machines is given up: they may be back.
func TestManyClaimsWithoutNodes(t *testing.T) {
	for _, tc := range []struct{ lost, of, want int }{{4, 4, 4}, {5, 5, 0}, {5, 60, 5}, {6, 60, 0}} {
		var s collect.Seen
		for i := range tc.of {
			id := fmt.Sprint("m", i)
			s.Machines = append(s.Machines, machine(id))
			s.Claims = append(s.Claims, claim(id, func(c *v1.NodeClaim) {
				c.Conditions().True(v1.ConditionRegistered, "", "", noon.Add(-time.Hour))
				c.Status.NodeName = "node-" + id
			}))
			if i >= tc.lost {
				s.Nodes = append(s.Nodes, node(id))
			}
		}
		if got := len(twice(s).Deserted); got != tc.want {
			t.Errorf("%d of %d: %d are given up, want %d", tc.lost, tc.of, got, tc.want)
		}
	}
}

// When much looks lost at once, the list is wrong, or this is another cluster.
func TestManyLostMachinesAreNotEnded(t *testing.T) {
	for _, tc := range []struct {
		lost, of int
		stops    bool
	}{{4, 4, false}, {5, 5, true}, {5, 60, false}, {6, 60, true}} {
		var s collect.Seen
		for i := range tc.of {
			id := fmt.Sprint("m", i)
			s.Machines = append(s.Machines, machine(id))
			if i >= tc.lost {
				s.Claims = append(s.Claims, claim(id))
			}
		}
		v := twice(s)
		if v.TooMany != tc.stops || len(v.End) > 0 == tc.stops {
			t.Errorf("%d of %d lost: stops %t, ends %d", tc.lost, tc.of, v.TooMany, len(v.End))
		}
	}
}

func TestWhichNodesAreAdopted(t *testing.T) {
	tests := map[string]struct {
		why  string
		seen collect.Seen
		want int
	}{
		"NodePool":    {"It has no claim.", collect.Seen{Machines: []cloud.Machine{machine("m")}, Nodes: []corev1.Node{node("m")}}, 1},
		"Provisioner": {"An older era has none at all.", collect.Seen{Machines: []cloud.Machine{machine("m")}, Nodes: []corev1.Node{node("m", func(n *corev1.Node) { n.Labels = map[string]string{"karpenter.sh/provisioner-name": "p"} })}}, 1},
		"Claimed":     {"It has one.", collect.Seen{Machines: []cloud.Machine{machine("m")}, Nodes: []corev1.Node{node("m")}, Claims: []v1.NodeClaim{claim("m")}}, 0},
		"Foreign":     {"It is someone else's.", collect.Seen{Machines: []cloud.Machine{machine("m")}, Nodes: []corev1.Node{node("m", func(n *corev1.Node) { n.Labels = nil })}}, 0},
		"Going":       {"It goes.", collect.Seen{Machines: []cloud.Machine{machine("m")}, Nodes: []corev1.Node{node("m", func(n *corev1.Node) { n.DeletionTimestamp = &metav1.Time{Time: noon} })}}, 0},
		"NoMachine":   {"It does not say which machine it is.", collect.Seen{Machines: []cloud.Machine{machine("")}, Nodes: []corev1.Node{node("")}}, 0},
		"Settled":     {"Half a minute is enough for its claim.", collect.Seen{Machines: []cloud.Machine{machine("m")}, Nodes: []corev1.Node{node("m", func(n *corev1.Node) { n.CreationTimestamp = metav1.NewTime(noon.Add(-30 * time.Second)) })}}, 1},
		"New":         {"Its claim may not show it yet.", collect.Seen{Machines: []cloud.Machine{machine("m")}, Nodes: []corev1.Node{node("m", func(n *corev1.Node) { n.CreationTimestamp = metav1.NewTime(noon.Add(-29 * time.Second)) })}}, 0},
		"Unlisted":    {"Anybody can write a label: a managed node group's machine is not in our list.", collect.Seen{Nodes: []corev1.Node{node("m")}}, 0},
		"Unmarked": {
			"It is listed, and nothing says that we or Karpenter made it.",
			collect.Seen{Nodes: []corev1.Node{node("m")}, Machines: []cloud.Machine{machine("m", func(m *cloud.Machine) { m.Order = "" })}},
			0,
		},
		"Ending": {"Its machine ends.", collect.Seen{Nodes: []corev1.Node{node("m")}, Machines: []cloud.Machine{machine("m", func(m *cloud.Machine) { m.Ending = true })}}, 0},
		"Bought": {
			"Its claim waits for it.",
			collect.Seen{Nodes: []corev1.Node{node("m")}, Machines: []cloud.Machine{machine("m")}, Claims: []v1.NodeClaim{claim("", func(c *v1.NodeClaim) { c.Annotations = map[string]string{v1.AnnotationOrder: "o"} })}},
			0,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.seen.At = noon
			if got := len(collect.Judge(tc.seen, collect.Verdict{}).Adopt); got != tc.want {
				t.Errorf("%d adopted, want %d: %s", got, tc.want, tc.why)
			}
		})
	}
}

func TestWhichClaimsAreLost(t *testing.T) {
	well := func(n *corev1.Node) {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	}
	young := func(c *v1.NodeClaim) {
		c.Status.Conditions = nil
		c.Conditions().True(v1.ConditionLaunched, "", "", noon.Add(-time.Minute))
	}
	registered := func(ago time.Duration) func(*v1.NodeClaim) {
		return func(c *v1.NodeClaim) {
			c.Status.Conditions = nil
			c.Conditions().True(v1.ConditionLaunched, "", "", noon.Add(-4*time.Minute))
			c.Conditions().True(v1.ConditionRegistered, "", "", noon.Add(-ago))
		}
	}
	tests := map[string]struct {
		why  string
		seen collect.Seen
		want int
	}{
		"Joined": {"A machine that has joined was listed, however young it is: it is gone, and its node with it.", collect.Seen{Claims: []v1.NodeClaim{claim("m", registered(3*time.Minute))}}, 1},
		"Joins":  {"One that joins just now may have a node that is not seen yet.", collect.Seen{Claims: []v1.NodeClaim{claim("m", registered(2*time.Minute+10*time.Second))}}, 0},
		"Gone":   {"Its machine is gone.", collect.Seen{Claims: []v1.NodeClaim{claim("m")}}, 1},
		"Sick":   {"So it is with a node that is not well.", collect.Seen{Claims: []v1.NodeClaim{claim("m")}, Nodes: []corev1.Node{node("m")}}, 1},
		"Well":   {"A kubelet that answers is believed more than a list.", collect.Seen{Claims: []v1.NodeClaim{claim("m")}, Nodes: []corev1.Node{node("m", well)}}, 0},
		"Pressed": {"A kubelet that has memory to spare, and is not ready, is not well.", collect.Seen{Claims: []v1.NodeClaim{claim("m")}, Nodes: []corev1.Node{node("m", func(n *corev1.Node) {
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionTrue}, {Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
		})}}, 1},
		"Leaving":  {"It goes already.", collect.Seen{Claims: []v1.NodeClaim{claim("m", func(c *v1.NodeClaim) { c.DeletionTimestamp = &metav1.Time{Time: noon} })}}, 0},
		"Joining":  {"Its node has not registered: that it was seen is not sure.", collect.Seen{Claims: []v1.NodeClaim{claim("m", registered(3*time.Minute), func(c *v1.NodeClaim) { c.Conditions().Unknown(v1.ConditionRegistered, "", "", noon.Add(-time.Hour)) })}}, 0},
		"Unbought": {"It has no machine that it could miss.", collect.Seen{Claims: []v1.NodeClaim{claim("", func(c *v1.NodeClaim) { c.Name = "new" })}}, 0},
		"Young":    {"A machine that was bought just now may not be listed.", collect.Seen{Claims: []v1.NodeClaim{claim("m", young)}}, 0},
		"There":    {"It is there.", collect.Seen{Claims: []v1.NodeClaim{claim("m")}, Machines: []cloud.Machine{machine("m")}}, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := len(twice(tc.seen).Lost); got != tc.want {
				t.Errorf("%d lost, want %d: %s", got, tc.want, tc.why)
			}
		})
	}
}

// Where many claims miss their machines at once, the list proves nothing.
func TestManyClaimsThatMissTheirMachines(t *testing.T) {
	for _, tc := range []struct {
		lost, of int
		few      bool
	}{{0, 0, false}, {4, 4, false}, {5, 5, true}, {5, 60, false}, {6, 60, true}} {
		var s collect.Seen
		for i := range tc.of {
			id := fmt.Sprint("m", i)
			s.Claims = append(s.Claims, claim(id))
			if i >= tc.lost {
				s.Machines = append(s.Machines, machine(id))
			}
		}
		s.Claims = append(s.Claims, claim("", func(c *v1.NodeClaim) { c.Name = "new" }))
		if v := twice(s); v.TooFew != tc.few {
			t.Errorf("%d of %d claims miss their machines, and the list proves nothing: %t", tc.lost, tc.of, v.TooFew)
		}
	}
}

// An adoption that was cut off is written to its end, unless its claim goes.
func TestWhichAdoptionsAreFinished(t *testing.T) {
	half := claim("", func(c *v1.NodeClaim) { c.Annotations = map[string]string{annotation.Adopts: "m"} })
	going := claim("", func(c *v1.NodeClaim) {
		c.Annotations, c.DeletionTimestamp = map[string]string{annotation.Adopts: "n"}, &metav1.Time{Time: noon}
	})
	whole := claim("o", func(c *v1.NodeClaim) { c.Annotations = map[string]string{annotation.Adopts: "o"} })
	v := collect.Judge(collect.Seen{Claims: []v1.NodeClaim{half, going, whole}, At: noon}, collect.Verdict{})
	if len(v.Finish) != 1 || v.Finish[0].Annotations[annotation.Adopts] != "m" {
		t.Errorf("%d adoptions are finished, want the one of m", len(v.Finish))
	}
}

// Ill are nodes that pods were sent to and that stopped being ready; others are looked after elsewhere.
func TestIll(t *testing.T) {
	b := world.NewBuilder()
	for name, tc := range map[string]struct {
		node  world.Node
		claim *world.Claim
	}{
		"ill": {world.Node{}, &world.Claim{Initialized: true}}, "well": {world.Node{Ready: true}, &world.Claim{Initialized: true}}, "forming": {world.Node{}, &world.Claim{}},
		"going": {world.Node{Deleting: true}, &world.Claim{Initialized: true}}, "own": {world.Node{}, nil},
	} {
		tc.node.Name, tc.node.ProviderID = name, name
		if err := b.SetNode(tc.node); err != nil {
			t.Fatal(err)
		}
		if tc.claim != nil {
			tc.claim.Name, tc.claim.ProviderID = name, name
			if err := b.SetClaim(*tc.claim); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := b.SetClaim(world.Claim{Name: "coming", Initialized: true}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]bool{"ill": true}, collect.Ill(b.Snapshot(1))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A claim says of which class it is as far as a label can: not over what its template says, nor by a name that is too long.
func TestClassOfAdopted(t *testing.T) {
	key := v1.LabelNodeClass("g", "Kind")
	for name, tc := range map[string]struct {
		class  string
		labels map[string]string
		want   string
	}{
		"Said":    {"default", map[string]string{}, "default"},
		"Already": {"default", map[string]string{key: "own"}, "own"},
		"Long":    {strings.Repeat("x", 64), map[string]string{}, ""},
	} {
		template := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Labels: tc.labels}, Spec: v1.NodeClaimSpec{NodeClassRef: &v1.NodeClassReference{Group: "g", Kind: "Kind", Name: tc.class}}}
		n := node("aws:///a/i-1", func(n *corev1.Node) { n.Labels = map[string]string{"karpenter.sh/provisioner-name": "p"} })
		c := collect.Adopted(&n, machine("aws:///a/i-1"), template, func(string) bool { return false })
		if got, there := c.Labels[key]; got != tc.want || there != (tc.want != "") {
			t.Errorf("%s: the label of its class is %q, want %q", name, got, tc.want)
		}
		if c.Labels["karpenter.sh/provisioner-name"] != "p" || !strings.HasPrefix(c.Name, "p-") {
			t.Errorf("%s: its Provisioner is not kept: %v, named %s", name, c.Labels, c.Name)
		}
	}
}

// Whatever a node says of itself, its claim asks for no machine and changes nothing on it.
func TestAdopted(t *testing.T) {
	n := node("aws:///a/i-1", func(n *corev1.Node) {
		n.Labels[v1.LabelInstanceType], n.Labels["karpenter.k8s.aws/ec2nodeclass"] = "m5.large", "default"
		n.Labels["karpenter.k8s.aws/instance-category"], n.Labels["example.com/mine"] = "m", "yes"
	})
	template := &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"team": "a"}, Annotations: map[string]string{v1.AnnotationPoolHash: "1"}},
		Spec:       v1.NodeClaimSpec{NodeClassRef: &v1.NodeClassReference{Name: "default"}, Taints: []corev1.Taint{{Key: "new"}}, ExpireAfter: "720h"},
	}
	free := func(string) bool { return false }
	m := machine("aws:///a/i-1", func(m *cloud.Machine) { m.Shape, m.Zone = "c5.large", "a" })
	c := collect.Adopted(&n, m, template, free)
	if c == nil || len(c.Spec.Taints) > 0 || c.Annotations[v1.AnnotationPoolHash] != "" || c.Annotations[annotation.Adopts] != n.Spec.ProviderID || c.Labels[v1.LabelNodePool] != "p" {
		t.Errorf("adopted as %+v", c)
	}
	if c.Labels["karpenter.k8s.aws/instance-category"] != "m" || c.Labels["example.com/mine"] != "" {
		t.Errorf("of its node's labels it took over %v, want those of the machine", c.Labels)
	}
	if c.Labels[v1.LabelInstanceType] != "c5.large" || c.Labels[v1.LabelZone] != "a" {
		t.Errorf("the cloud says that it is a c5.large in a, and it is adopted as %v", c.Labels)
	}
	if again := collect.Adopted(&n, m, template, free); again.Name != c.Name {
		t.Error("a second adoption has another name, so it would make a second claim")
	}
	if c := collect.Adopted(&n, m, nil, free); c == nil || c.Spec.NodeClassRef.Name != "default" || c.Spec.ExpireAfter != v1.Never {
		t.Errorf("without its pool the node is adopted as %+v", c)
	}
	delete(n.Labels, "karpenter.k8s.aws/ec2nodeclass")
	if c := collect.Adopted(&n, m, nil, free); c != nil {
		t.Error("a node of which not even the class is known is adopted")
	}
}

// A claim that misses its machine is looked at soon, but not for ever.
func TestWhenToLookAgain(t *testing.T) {
	gone := collect.Seen{Claims: []v1.NodeClaim{claim("m")}, Nodes: []corev1.Node{node("m", func(n *corev1.Node) {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	})}, At: noon}
	well := gone
	well.Machines = []cloud.Machine{machine("m")}
	var waits []time.Duration
	var v collect.Verdict
	for _, s := range []collect.Seen{well, gone, gone, gone, gone, gone, well, gone} {
		v = collect.Judge(s, v)
		waits = append(waits, v.After()/time.Second)
	}
	if diff := cmp.Diff([]time.Duration{120, 15, 30, 60, 120, 120, 120, 15}, waits); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Two machines whose ids come to the same name get claims of their own.
func TestAdoptedNamesDoNotCollide(t *testing.T) {
	template := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{}}, Spec: v1.NodeClaimSpec{NodeClassRef: &v1.NodeClassReference{Name: "default"}}}
	n := node("aws:///a/i-1")
	name := func(claims ...v1.NodeClaim) string {
		return collect.Adopted(&n, machine("aws:///a/i-1"), template, collect.Taken(claims, n.Spec.ProviderID)).Name
	}
	first := name()
	held := func(by string, change ...func(*v1.NodeClaim)) v1.NodeClaim {
		return claim(by, append(change, func(c *v1.NodeClaim) { c.Name = first })...)
	}
	if got := name(held("aws:///a/i-2")); got == first {
		t.Errorf("the claim of another machine has the name %s, and this one's gets it as well", first)
	} else if again := name(held("aws:///a/i-2")); again != got {
		t.Errorf("it gets %s, and at the next look %s: one that was cut off would be made twice", got, again)
	}
	if got := name(held("aws:///a/i-1")); got != first {
		t.Errorf("its own claim is there already, and it gets another, %s", got)
	}
	begun := held("", func(c *v1.NodeClaim) { c.Annotations = map[string]string{annotation.Adopts: "aws:///a/i-1"} })
	if got := name(begun); got != first {
		t.Errorf("its own claim is half made, and it gets another, %s", got)
	}
}
