package packing_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/world"
)

// ready is the packing of a World told in lines, with its pods waiting.
func ready(t interface{ Fatal(...any) }, lines ...string) *packing.Packing {
	s := enginetest.NewScene()
	for _, line := range lines {
		if err := s.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	k := packing.New(s.World(), packing.Options{})
	pods, _ := packing.Admit(s.World())
	k.Ready(pods)
	return k
}

// observe is all that others can see of a packing.
func observe(k *packing.Packing) string {
	var b strings.Builder
	for _, bin := range slices.Concat(k.Existing, k.Planned) {
		var pods []string
		for _, x := range bin.Pods {
			pods = append(pods, x.Pod.Name)
			if x.Bin != bin {
				pods = append(pods, "of another bin")
			}
		}
		slices.Sort(pods)
		fmt.Fprintf(&b, "%s closed=%v away=%v free=%v used=%v offer=%d allowed=%v pinned=%v ports=%v attached=%v labels=%v open=%v number=%d pods=%v:", bin.Place.Name, bin.Closed, bin.Away, bin.Free, bin.Used, bin.Offer,
			bin.Allowed, bin.Pinned, sorted(bin.Place.Ports), sorted(bin.Place.Attached), bin.Place.Labels, bin.Place.Open, bin.Number, pods)
		for _, c := range k.Classes {
			x := &packing.Pod{Pod: c.Pod, Class: c}
			fmt.Fprintf(&b, " %v/%d", k.Accepts(bin, x), k.RegretOn(c, bin))
		}
		b.WriteByte('\n')
	}
	for _, p := range k.Market.Pools {
		fmt.Fprintf(&b, "%s left=%v\n", p.ID.Name, p.Left)
	}
	fmt.Fprintf(&b, "quotas=%v price=%d spend=%d\n", k.Market.Quotas, packing.Price(k), packing.Spend(k))
	return b.String()
}

func sorted[T any](all []T) []string {
	var out []string
	for _, v := range all {
		out = append(out, fmt.Sprint(v))
	}
	slices.Sort(out)
	return out
}

// fill puts pods where they may go, each on a machine that is drawn.
func fill(t *rapid.T, k *packing.Packing) {
	var rest []*packing.Pod
	for _, x := range k.Unplaced {
		var takes []*packing.Bin
		for _, b := range k.Existing {
			if k.Accepts(b, x) {
				takes = append(takes, b)
			}
		}
		if len(takes) == 0 || rapid.IntRange(0, 2).Draw(t, "waits") == 0 {
			rest = append(rest, x)
			continue
		}
		k.Join(rapid.SampledFrom(takes).Draw(t, "machine"), x)
	}
	k.Unplaced = rest
}

// A pod that joins a machine that is there and leaves it again leaves no trace.
func TestJoinAndLeave(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		lines := enginetest.Lines().Draw(t, "lines")
		k := ready(t, lines...)
		fill(t, k)
		before := observe(k)
		for _, x := range k.Unplaced {
			for _, b := range k.Existing {
				if !k.Accepts(b, x) {
					continue
				}
				k.Join(b, x)
				k.Leave(x)
				if diff := cmp.Diff(before, observe(k)); diff != "" {
					t.Fatalf("%s came to %s and left it:\n%s\n%s", x.Pod, b.Place.Name, diff, strings.Join(lines, "\n"))
				}
			}
		}
	})
}

// The order in which pods join machines makes no difference to what is seen afterwards.
func TestOrderOfJoins(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		lines := enginetest.Lines().Draw(t, "lines")
		k := ready(t, lines...)
		fill(t, k)
		again := ready(t, lines...)
		type join struct{ pod, machine int }
		var joins []join
		for n, x := range again.Unplaced {
			for i, b := range k.Existing {
				if slices.ContainsFunc(b.Pods, func(y *packing.Pod) bool { return y.Pod == x.Pod || y.Pod.Key == x.Pod.Key }) {
					joins = append(joins, join{n, i})
				}
			}
		}
		for _, j := range rapid.Permutation(joins).Draw(t, "order") {
			again.Join(again.Existing[j.machine], again.Unplaced[j.pod])
		}
		if diff := cmp.Diff(observe(k), observe(again)); diff != "" {
			t.Fatalf("-in one order +in another:\n%s\n%s", diff, strings.Join(lines, "\n"))
		}
	})
}

// A machine that is bought and dropped before pods come leaves no trace but its name.
func TestBuyAndDrop(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		lines := enginetest.Lines().Draw(t, "lines")
		k := ready(t, lines...)
		fill(t, k)
		before := observe(k)
		for i := range k.Market.Offers {
			if k.Market.OnSale(i) {
				k.Drop(k.Buy(i))
			}
		}
		if diff := cmp.Diff(before, observe(k)); diff != "" {
			t.Fatalf("%s\n%s", diff, strings.Join(lines, "\n"))
		}
	})
}

// do makes some changes that are drawn: pods come, move and leave, machines are bought, turned, moved and dropped.
func do(t *rapid.T, k *packing.Packing, pods []*packing.Pod) {
	for range rapid.IntRange(0, 8).Draw(t, "changes") {
		x := rapid.SampledFrom(pods).Draw(t, "pod")
		bins := slices.Concat(k.Existing, k.Planned)
		switch rapid.IntRange(0, 9).Draw(t, "change") {
		case 0, 1:
			if len(bins) == 0 {
				continue
			}
			if b := rapid.SampledFrom(bins).Draw(t, "bin"); x.Bin == nil && !x.Counted && k.Accepts(b, x) {
				k.Join(b, x)
			}
		case 2:
			if x.Bin != nil && !x.Held {
				k.Leave(x)
			}
		case 3:
			if n := len(k.Market.Offers); n > 0 {
				if i := rapid.IntRange(0, n-1).Draw(t, "offer"); k.Market.OnSale(i) {
					k.Buy(i)
				}
			}
		case 4:
			if len(k.Planned) == 0 {
				continue
			}
			b := rapid.SampledFrom(k.Planned).Draw(t, "planned")
			to := rapid.IntRange(0, len(k.Market.Offers)-1).Draw(t, "to")
			same := k.Market.Offers[to].Type.Pool == k.Market.Offers[b.Offer].Type.Pool
			switch {
			case b.Away:
				k.BuyAgain(b)
			case len(b.Pods) == 0 && rapid.Bool().Draw(t, "give back"):
				k.GiveBack(b)
			case len(b.Pods) == 0 && rapid.Bool().Draw(t, "drop"):
				k.Drop(b)
			case len(b.Pods) == 0 && same:
				k.MoveTo(b, to)
			case same && b.Allowed.Has(to) && k.Market.Offers[to].DomainSet == k.Market.Offers[b.Offer].DomainSet:
				k.Turn(b, to)
			}
		case 5, 8, 9:
			goAway(t, k)
		case 6:
			if n := len(k.Existing); n > 0 && x.Bin == nil {
				countAway(k, k.Existing[x.Class.Number%n], x)
			}
		case 7:
			switch rapid.IntRange(0, 2).Draw(t, "close") {
			case 0:
				k.HandOver()
			case 1:
				if len(bins) > 0 {
					k.Close(rapid.SampledFrom(bins).Draw(t, "closed"))
				}
			case 2:
				if len(bins) > 0 {
					k.Open(rapid.SampledFrom(bins).Draw(t, "opened"))
				}
			}
		}
	}
}

// goAway takes a machine without planned pods away with what runs there, or puts it back.
func goAway(t *rapid.T, k *packing.Packing) {
	if len(k.Existing) == 0 {
		return
	}
	b := rapid.SampledFrom(k.Existing).Draw(t, "machine")
	var with []*world.Pod
	if k.Ledger.Counts() {
		with = b.Machine.Pods
	}
	switch {
	case b.Machine.Deleting():
	case b.Away:
		k.PutBack(b, with)
	case len(b.Pods) == 0:
		k.TakeAway(b, with)
	}
}

// countAway counts a pod without a place as running on the machine, or ends that.
func countAway(k *packing.Packing, b *packing.Bin, x *packing.Pod) {
	if x.Counted {
		k.Uncount(b, x)
	} else {
		k.CountOn(b, x)
	}
}

// Undo brings back all that was seen at the mark, and marks nest: what was committed within one is undone with it.
func TestUndo(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		lines := enginetest.Lines().Draw(t, "lines")
		k := ready(t, lines...)
		pods := slices.Clone(k.Unplaced)
		if len(pods) == 0 {
			return
		}
		fill(t, k)
		do(t, k, pods)
		before := observe(k)
		outer := k.Mark()
		do(t, k, pods)
		between := observe(k)
		inner := k.Mark()
		do(t, k, pods)
		if rapid.Bool().Draw(t, "commit") {
			k.Commit(inner)
		} else {
			k.Undo(inner)
			if diff := cmp.Diff(between, observe(k)); diff != "" {
				t.Fatalf("the inner mark:\n%s\n%s", diff, strings.Join(lines, "\n"))
			}
			do(t, k, pods)
		}
		k.Undo(outer)
		if diff := cmp.Diff(before, observe(k)); diff != "" {
			t.Fatalf("the outer mark:\n%s\n%s", diff, strings.Join(lines, "\n"))
		}
	})
}

// offer is the position of a type's offer in a zone.
func offer(t *testing.T, k *packing.Packing, shape, zone string) int {
	t.Helper()
	for i := range k.Market.Offers {
		if o := &k.Market.Offers[i]; o.Type.Shape.Name == shape && o.Zone == zone {
			return i
		}
	}
	t.Fatalf("there is no %s in %s", shape, zone)
	return -1
}

var shop = []string{
	"type small cpu=2 memory=4Gi price=0.10 zones=a,b", "type large cpu=8 memory=16Gi price=0.40 zones=a,b", "pool general limit=cpu:10 limit=nodes:3",
}

func TestVerbs(t *testing.T) {
	tests := map[string]struct {
		why  string
		pods []string
		do   func(t *testing.T, k *packing.Packing)
	}{
		"BuyDrawsFromLimits": {
			why:  "What is planned counts against the limits of its pool until it is dropped.",
			pods: []string{"pod web cpu=1"},
			do: func(t *testing.T, k *packing.Packing) {
				t.Helper()
				large := offer(t, k, "large", "a")
				b := k.Buy(large)
				if k.Market.OnSale(large) {
					t.Error("8 of 10 cores are planned, and 8 more are on sale")
				}
				if !k.Market.OnSale(offer(t, k, "small", "a")) {
					t.Error("2 cores are left, and a machine of 2 is not on sale")
				}
				k.Drop(b)
				if !k.Market.OnSale(large) {
					t.Error("what was dropped still counts")
				}
			},
		},
		"TurnKeepsPods": {
			why:  "A machine that becomes another one has the other's room, less what its pods use.",
			pods: []string{"pod web cpu=1"},
			do: func(t *testing.T, k *packing.Packing) {
				t.Helper()
				b := k.Buy(offer(t, k, "small", "a"))
				k.Join(b, k.Unplaced[0])
				small := slices.Clone(b.Free)
				k.Turn(b, offer(t, k, "large", "a"))
				k.Turn(b, offer(t, k, "small", "a"))
				if diff := cmp.Diff(small, b.Free); diff != "" {
					t.Errorf("there and back it has other room: %s", diff)
				}
				if len(b.Pods) != 1 || b.Pods[0].Bin != b {
					t.Error("its pod is gone")
				}
			},
		},
		"JoinPins": {
			why:  "Where a pod that is spread over zones has joined, the machine may only become one of the same zone.",
			pods: []string{"pod web cpu=1 spread=zone:1"},
			do: func(t *testing.T, k *packing.Packing) {
				t.Helper()
				b := k.Buy(offer(t, k, "small", "a"))
				elsewhere := offer(t, k, "large", "b")
				if !b.Allowed.Has(elsewhere) {
					t.Error("a machine without pods may be one in another zone")
				}
				k.Join(b, k.Unplaced[0])
				if b.Allowed.Has(elsewhere) || !b.Allowed.Has(offer(t, k, "large", "a")) {
					t.Errorf("it may become %v", b.Allowed)
				}
			},
		},
		"OnePort": {
			why:  "A host port is taken on a machine by the pod that has it, and free again when that leaves.",
			pods: []string{"pod web x2 cpu=100m port=80"},
			do: func(t *testing.T, k *packing.Packing) {
				t.Helper()
				b := k.Buy(offer(t, k, "small", "a"))
				first, second := k.Unplaced[0], k.Unplaced[1]
				k.Join(b, first)
				if k.Accepts(b, second) {
					t.Error("two pods have one port")
				}
				k.Leave(first)
				if !k.Accepts(b, second) {
					t.Error("the port of a pod that left is not free")
				}
			},
		},
		"ClosedTakesNone": {
			why:  "A closed machine takes no pod, whatever room it has.",
			pods: []string{"pod web cpu=100m"},
			do: func(t *testing.T, k *packing.Packing) {
				t.Helper()
				b := k.Buy(offer(t, k, "small", "a"))
				b.Closed = true
				if k.Accepts(b, k.Unplaced[0]) {
					t.Error("it takes one")
				}
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Log(tc.why)
			tc.do(t, ready(t, append(slices.Clone(shop), tc.pods...)...))
		})
	}
}

// What runs on a machine that is taken away counts for no pod, and what is undone brings back just that.
func TestAwayAndBack(t *testing.T) {
	k := ready(t, "node n1 cpu=4 zone=a", "node n2 cpu=4 zone=a", "pod db cpu=1 node=n1", "pod web cpu=1 near=zone:db")
	n1, n2, web := k.Existing[0], k.Existing[1], k.Unplaced[0]
	with := n1.Machine.Pods
	want := func(step string, near, takes bool) {
		t.Helper()
		if got := k.Accepts(n2, web); got != near {
			t.Errorf("%s: a pod that wants to be in the zone of one on n1 is accepted on n2: %t", step, got)
		}
		if got := k.Accepts(n1, web); got != takes {
			t.Errorf("%s: n1 takes a pod: %t", step, got)
		}
	}
	want("there", true, true)
	gone := k.Mark()
	k.TakeAway(n1, with)
	want("taken away", false, false)
	back := k.Mark()
	k.PutBack(n1, with)
	want("put back", true, true)
	k.Undo(back)
	want("not put back after all", false, false)
	k.Undo(gone)
	want("not taken away after all", true, true)
}

func TestOffersThatCountAlike(t *testing.T) {
	t.Log("Offers have one set of domains only if they are in the same zone and count for the same pods that choose among machines.")
	small := "type small cpu=4 memory=8Gi price=0.10 spot=0.05 zones=a,b"
	large := "type large cpu=8 memory=16Gi price=0.20 zones=a,b"
	tests := map[string]struct {
		why  string
		pod  string
		want int // sets of domains
	}{
		"NotChosen":  {"Pods that choose nothing count on all machines of a zone alike.", "pod web cpu=1 spread=zone:1", 2},
		"ByPool":     {"What is asked once for a pool holds for no other.", "pod web cpu=1 spread=zone:1 select=team:blue", 4},
		"ByShape":    {"Where pods look at the shape, machines of a pool differ.", "pod web cpu=1 spread=zone:1 select=node.kubernetes.io/instance-type:large", 4},
		"ByZone":     {"A zone is told by the offer, not by its pool.", "pod web cpu=1 spread=zone:1 select=topology.kubernetes.io/zone:a", 2},
		"ByCapacity": {"So is how it is sold.", "pod web cpu=1 spread=zone:1 select=karpenter.sh/capacity-type:spot", 4},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Log(tc.why)
			k := ready(t, small, large, "pool blue team=blue", "pool red team=red", "pod any cpu=1", tc.pod)
			sets := map[int]bool{}
			for i := range k.Market.Offers {
				sets[k.Market.Offers[i].DomainSet] = true
			}
			if len(sets) != tc.want {
				t.Errorf("%d sets of domains, not %d", len(sets), tc.want)
			}
		})
	}
}
