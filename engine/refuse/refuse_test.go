package refuse_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/enginetest/bins"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/refuse"
)

// codes are the objections behind a reason: what objects, and by which code.
func codes(whys []*reason.Why) string {
	var lines []string
	for _, w := range whys {
		line := strings.TrimSpace(w.Subject + " " + string(w.Code))
		if len(w.Causes) > 0 {
			line += "(" + codes(w.Causes) + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, ", ")
}

func TestAll(t *testing.T) {
	small := "type small cpu=2 memory=4Gi price=0.10 zones=a"
	tests := map[string]struct {
		why, want string
		world     []string
	}{
		"Placed":     {"Of a pod that has a place nothing is said.", "", []string{small, "pool general", "node n1 cpu=4 memory=4Gi zone=a", "pod web cpu=1"}},
		"NoPool":     {"Without a pool nothing can be bought.", "web: no-pool", []string{"pod web cpu=1"}},
		"Taint":      {"A taint of the pool that the pod does not tolerate.", "web: NodePool general taint", []string{small, "pool general taint=gpu:NoSchedule", "pod web cpu=1"}},
		"Label":      {"A label that no machine of the pool has.", "web: NodePool general label", []string{small, "pool general", "pod web cpu=1 select=family:x"}},
		"Zone":       {"A zone in which nothing is sold.", "web: NodePool general no-shape(label)", []string{small, "pool general", "pod web cpu=1 select=zone:q"}},
		"TooLarge":   {"No type has room for it.", "web: NodePool general no-shape(small resource)", []string{small, "pool general", "pod web cpu=3"}},
		"Limit":      {"A limit leaves nothing.", "web: NodePool general limit", []string{small, "pool general limit=cpu:1", "pod web cpu=1"}},
		"MinValues":  {"The pool wants more types than would do.", "web: NodePool general min-values", []string{small, "pool general require=type:Exists:/2", "pod web cpu=1"}},
		"Reserved":   {"A reservation of which nothing is left is no offer.", "web: NodePool general no-shape(no-offer)", []string{"type small cpu=2 memory=4Gi zones=a reserved=r1:0", "pool general", "pod web cpu=1"}},
		"Contrary":   {"Demands of the pod that exclude each other are its own fault: no pool is blamed.", "web: label", []string{small, "pool general", "pod web cpu=1 select=zone:a affinity=zone:b"}},
		"NotReady":   {"A pool that is not ready buys nothing.", "web: NodePool general not-ready", []string{small, "pool general not-ready=paused", "pod web cpu=1"}},
		"Affinity":   {"The company that it wants is nowhere.", "web: NodePool general pod-affinity", []string{small, "pool general", "pod web cpu=1 near=zone:db"}},
		"EveryPool":  {"Every pool has its own objections.", "web: NodePool one taint, NodePool two limit", []string{small, "pool one taint=x:NoSchedule", "pool two limit=cpu:1", "pod web cpu=1"}},
		"UnitMixUp":  {"Two million cores are meant as thousandths.", "web: cpu unit-mix-up, NodePool general no-shape(small resource)", []string{small, "pool general", "pod web cpu=2000000"}},
		"FullNode":   {"A node that is full objects beside the pool.", "web: NodePool general taint, n1 resource", []string{small, "pool general taint=x:NoSchedule", "node n1 cpu=500m memory=1Gi zone=a", "pod web cpu=1"}},
		"TwoNodes":   {"Nodes with the same objections are told together.", "web: NodePool general taint, 2 nodes, such as n2 resource", []string{small, "pool general taint=x:NoSchedule", "node n1 cpu=500m memory=1Gi zone=a", "node n2 cpu=600m memory=1Gi zone=a", "pod web cpu=1"}},
		"PortIsUsed": {"A host port that a pod of the node has.", "web: NodePool general taint, n1 host-port", []string{small, "pool general taint=x:NoSchedule", "node n1 cpu=4 memory=4Gi zone=a", "pod old cpu=1 port=80 node=n1", "pod web cpu=1 port=80"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Log(tc.why)
			k := bins.Ready(t, packing.Options{}, tc.world...)
			if tc.want == "" {
				bins.On(t, k, "n1", "web")
			}
			var got []string
			for _, r := range refuse.All(k) {
				got = append(got, r.Pod.Name+": "+codes(r.Why.Causes))
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Nodes is what machines alone have against a pod.
func TestNodes(t *testing.T) {
	k := bins.Ready(t, packing.Options{},
		"type small cpu=2 memory=4Gi price=0.10 zones=a", "pool general", "node n1 cpu=500m memory=1Gi zone=a",
		"node n2 cpu=4 memory=4Gi zone=a taint=x:NoSchedule", "pod web x2 cpu=1")
	bins.Buy(t, k, "small", "a", "web-1")
	want := "n1 resource, n2 taint"
	if diff := cmp.Diff(want, codes(refuse.Nodes(k, k.Unplaced[0]))); diff != "" {
		t.Error(diff)
	}
}
