package bind_test

import (
	"slices"
	"testing"

	"github.com/tenon-sh/tenon/engine/bind"
	"github.com/tenon-sh/tenon/engine/enginetest/bins"
	"github.com/tenon-sh/tenon/engine/packing"
)

// Which pods cannot be bound where they are, one after the other, and which cannot once all others are.
func TestStuck(t *testing.T) {
	zones := []string{"type small cpu=2 memory=4Gi price=0.10 zones=a,b", "pool general"}
	tests := map[string]struct {
		why   string
		pods  []string
		a, b  []string // the pods on a machine in either zone
		stuck []string
		last  []string // of all pods, were the others bound before
	}{
		"Even": {
			why:  "Pods that lie evenly can be bound in some order, and each of them last.",
			pods: []string{"pod web x2 cpu=100m spread=zone:1"}, a: []string{"web-0"}, b: []string{"web-1"},
		},
		"SecondOfOneZone": {
			why:  "With a skew of one the second pod of a zone cannot be bound before one of the other zone is there.",
			pods: []string{"pod web x2 cpu=100m spread=zone:1"}, a: []string{"web-0", "web-1"}, b: nil,
			stuck: []string{"web-1"}, last: []string{"web-0", "web-1"},
		},
		"DrawnAlong": {
			why:  "One that wants the company of another waits for it, and can be bound after it.",
			pods: []string{"pod guest cpu=100m priority=9 near=zone:host", "pod host cpu=100m"}, a: []string{"guest", "host"},
		},
		"NoCompany": {
			why:  "It cannot where the other is in another zone.",
			pods: []string{"pod guest cpu=100m near=zone:host", "pod host cpu=100m"}, a: []string{"guest"}, b: []string{"host"},
			stuck: []string{"guest"}, last: []string{"guest"},
		},
		"OnlyBefore": {
			why:  "A pod that is spread among others could be bound before them, and not after.",
			pods: []string{"pod db x2 cpu=100m app=db select=zone:a", "pod web cpu=100m priority=9 spread=zone:1:of=db"}, a: []string{"db-0", "db-1", "web"}, b: nil,
			last: []string{"web"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			k := bins.Ready(t, packing.Options{}, append(slices.Clone(zones), tc.pods...)...)
			bins.Buy(t, k, "small", "a", tc.a...)
			bins.Buy(t, k, "small", "b", tc.b...)
			stuck := bind.Replay(k)
			bind.Readmit(k, stuck)
			if got := names(stuck); !slices.Equal(got, tc.stuck) {
				t.Errorf("%s\n%v cannot be bound, and not %v", tc.why, got, tc.stuck)
			}
			if possible := bind.Possible(k); possible != (len(tc.stuck) == 0) {
				t.Errorf("all can be bound: %t", possible)
			}
			var last, unstable []*packing.Pod
			for _, machine := range k.Planned {
				for _, x := range machine.Pods {
					last = append(last, bind.StuckAfterOthers(k, []*packing.Pod{x})...)
					if !bind.Stable(k, x) {
						unstable = append(unstable, x)
					}
				}
			}
			if got := names(last); !slices.Equal(got, tc.last) || !slices.Equal(names(unstable), got) {
				t.Errorf("%s\n%v cannot be bound last, and not %v; without a look at others %v", tc.why, got, tc.last, names(unstable))
			}
			if after := bind.AfterOthers(k, slices.Concat(k.Planned[0].Pods, k.Planned[1].Pods)); after != (len(tc.stuck) == 0) {
				t.Errorf("after none, all can be bound: %t", after)
			}
		})
	}
}

// Where pods count for constraints that they do not carry, those of one domain may keep out what the other waits for. That is no
// reason to call them stuck: bound in turns, all can be.
func TestNoneGetsAhead(t *testing.T) {
	k := bins.Ready(t, packing.Options{},
		"type small cpu=2 memory=4Gi price=0.10 zones=a,b", "pool general",
		"pod xa x2 cpu=400m app=x spread=zone:1:of=y", "pod yb x2 cpu=300m app=y spread=zone:1:of=x",
		"pod xb x2 cpu=200m app=x spread=zone:1:of=y", "pod ya x2 cpu=100m app=y spread=zone:1:of=x")
	bins.Buy(t, k, "small", "a", "xa-0", "xa-1", "ya-0", "ya-1")
	bins.Buy(t, k, "small", "b", "xb-0", "xb-1", "yb-0", "yb-1")
	if stuck := bind.Replay(k); len(stuck) > 0 {
		t.Errorf("%v cannot be bound", names(stuck))
	}
	for _, b := range k.Planned {
		for _, x := range b.Pods {
			if !bind.Stable(k, x) {
				t.Errorf("%s is not where it was before", x.Pod.Name)
			}
		}
	}
}

func names(pods []*packing.Pod) []string {
	var out []string
	for _, x := range pods {
		out = append(out, x.Pod.Name)
	}
	slices.Sort(out)
	return out
}
