package wording_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/wording"
)

// Each code that a pool may have against a pod has words of its own, by itself and beside others.
func TestEveryCodeHasWords(t *testing.T) {
	id := world.PoolID{Kind: world.NodePool, Name: "p"}
	b := world.NewBuilder()
	must(t, b.SetPool, world.Pool{ID: id})
	must(t, b.SetPod, waiting(t, map[string]string{"cpu": "1"}))
	w := b.Snapshot(0)
	const taint, noType = "did not tolerate x=y:NoSchedule", `no instance type satisfied resources {"cpu":"1","pods":"1"} and requirements karpenter.sh/nodepool In [p]`
	tests := map[reason.Code]struct {
		detail         string
		alone, besides string // besides is how it is said beside a taint; empty: it is always alone
	}{
		reason.NotReady:     {"its class is missing", `nodepool "p" is not ready, its class is missing`, ""},
		reason.Deleting:     {"", `nodepool "p" is being deleted`, ""},
		reason.BackOff:      {"two failed", `nodepool "p" waits before it asks for another node: two failed`, ""},
		reason.Limit:        {"", `all available instance types exceed limits for nodepool "p", x: limit 0`, "all available instance types exceed its limits, x: limit 0"},
		reason.Taint:        {"x=y:NoSchedule", `incompatible with nodepool "p", ` + taint, taint},
		reason.Label:        {"a In [b]", `incompatible with nodepool "p", incompatible requirements, a In [b]`, "incompatible requirements, a In [b]"},
		reason.NoShape:      {"", `incompatible with nodepool "p", ` + noType, noType},
		reason.NoOffer:      {"", `incompatible with nodepool "p", ` + noType, noType},
		reason.Spread:       {"zone a", `incompatible with nodepool "p", unsatisfiable topology constraint, topology spread, zone a`, "unsatisfiable topology constraint, topology spread, zone a"},
		reason.Affinity:     {"zone a", `incompatible with nodepool "p", unsatisfiable topology constraint, pod affinity, zone a`, "unsatisfiable topology constraint, pod affinity, zone a"},
		reason.AntiAffinity: {"zone a", `incompatible with nodepool "p", unsatisfiable topology constraint, pod anti affinity, zone a`, "unsatisfiable topology constraint, pod anti affinity, zone a"},
		reason.Port:         {"80 meets 80", `incompatible with nodepool "p", host port is in use, 80 meets 80`, "host port is in use, 80 meets 80"},
	}
	said := func(why *reason.Why) string {
		why.Subject = "NodePool p"
		return wording.Refusal(w, plan.Refusal{Pod: w.Pods()[0].Key, Why: &reason.Why{Code: reason.NoPlace, Causes: []*reason.Why{why}}})
	}
	for code, tc := range tests {
		t.Run(string(code), func(t *testing.T) {
			about := reason.About{Key: "x", Value: "y", Effect: world.NoSchedule}
			if diff := cmp.Diff(tc.alone, said(&reason.Why{Code: code, Detail: tc.detail, About: about})); diff != "" {
				t.Errorf("by itself: -want +got\n%s", diff)
			}
			if tc.besides == "" {
				return
			}
			both := &reason.Why{Code: reason.NoPlace, Causes: []*reason.Why{{Code: reason.Taint, About: about}, {Code: code, Detail: tc.detail, About: about}}}
			if text := said(both); !strings.Contains(text, taint) || !strings.Contains(text, tc.besides) {
				t.Errorf("beside a taint it is not said %q: %s", tc.besides, text)
			}
		})
	}
}

// Where it is devices that no type of a pool has, that is said, and not that no type will do.
func TestDevicesHaveWords(t *testing.T) {
	b := world.NewBuilder()
	must(t, b.SetPool, world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "p"}})
	must(t, b.SetPod, waiting(t, map[string]string{"cpu": "1"}))
	w := b.Snapshot(0)
	lacks := &reason.Why{Code: reason.NoShape, Subject: "NodePool p", Detail: "no instance type satisfied …", Causes: []*reason.Why{{Code: reason.NoDevice, Subject: "g5.xlarge", Detail: "resource claim c, request r: wants 2 of class gpu; 1 of 1 devices are accepted"}}}
	want := `incompatible with nodepool "p", no instance type has the devices, resource claim c, request r: wants 2 of class gpu; 1 of 1 devices are accepted`
	got := wording.Refusal(w, plan.Refusal{Pod: w.Pods()[0].Key, Why: &reason.Why{Code: reason.NoPlace, Causes: []*reason.Why{lacks}}})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
