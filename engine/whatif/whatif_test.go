package whatif_test

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
	"github.com/tenon-sh/tenon/engine/whatif"
)

// cluster is the cluster of a World told in lines; all machines that do not go may be cleared.
func cluster(t interface{ Fatal(...any) }, lines ...string) *whatif.Cluster {
	s := enginetest.NewScene()
	for _, line := range lines {
		if err := s.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	return whatif.New(s.World(), packing.Options{Steps: 1000}, whatif.Staying)
}

// at is the position of a machine.
func at(t *testing.T, c *whatif.Cluster, name string) int {
	t.Helper()
	for i, p := range c.Places() {
		if p.Name() == name {
			return i
		}
	}
	t.Fatalf("there is no %s", name)
	return -1
}

// order are the positions of machines.
func order(t *testing.T, c *whatif.Cluster, names ...string) *whatif.Order {
	t.Helper()
	var out []int
	for _, n := range names {
		out = append(out, at(t, c, n))
	}
	return c.Order(out)
}

// look is how many pods each machine has, whether some are aside, and where its pods would go by themselves.
func look(c *whatif.Cluster) string {
	var b strings.Builder
	for i, p := range c.Places() {
		fmt.Fprintf(&b, "%s pods=%d aside=%t room=%v full=%t", p.Name(), c.Count(i), c.HasAside(i), c.Room(i), c.Full(i))
		moves, homeless := c.Elsewhere(i)
		for _, m := range moves {
			fmt.Fprintf(&b, " %s->%s", m.Pod.Name, m.To.Name())
		}
		for _, p := range homeless {
			fmt.Fprintf(&b, " %s->", p.Name)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

var sold = []string{"type small cpu=2 memory=4Gi price=0.10 zones=a,b", "type large cpu=8 memory=16Gi price=0.40 zones=a,b", "pool general"}

func TestCluster(t *testing.T) {
	tests := map[string]struct {
		why   string
		lines []string
		do    func(t *testing.T, c *whatif.Cluster)
	}{
		"SettlesWhereLeastIsLost": {
			why:   "A pod goes where it takes least of what others could have: where memory is left over anyway.",
			lines: []string{"node n1 cpu=1 memory=8Gi", "node n2 cpu=8 memory=8Gi", "node n3 cpu=1 memory=8Gi", "pod db cpu=500m memory=2Gi node=n1", "pod web cpu=2 memory=1Gi node=n2"},
			do: func(t *testing.T, c *whatif.Cluster) {
				t.Helper()
				c.Clear(at(t, c, "n1"))
				if left := c.Settle(order(t, c, "n2", "n3"), false); left > 0 || c.Count(at(t, c, "n3")) != 1 {
					t.Errorf("%d are left, and n3 has %d", left, c.Count(at(t, c, "n3")))
				}
			},
		},
		"SettlesInTheOrderTold": {
			why:   "Of machines that are alike the first in the order takes the pod.",
			lines: []string{"node n1 cpu=2", "node n2 cpu=2", "node n3 cpu=2", "pod db cpu=1 node=n1"},
			do: func(t *testing.T, c *whatif.Cluster) {
				t.Helper()
				c.Clear(at(t, c, "n1"))
				if c.Settle(order(t, c, "n3", "n2"), false); c.Count(at(t, c, "n3")) != 1 {
					t.Error("n3 has not got it")
				}
			},
		},
		"SettlesGroupsWhole": {
			why:   "Pods that have to share a machine go to one with room for all of them, not to the first that takes one.",
			lines: []string{"node n1 cpu=4", "node n2 cpu=2", "node n3 cpu=4", "pod crew x4 cpu=1 near=host node=n1"},
			do: func(t *testing.T, c *whatif.Cluster) {
				t.Helper()
				c.Clear(at(t, c, "n1"))
				if left := c.Settle(order(t, c, "n2", "n3"), true); left > 0 || c.Count(at(t, c, "n3")) != 4 {
					t.Errorf("%d are left, and n3 has %d", left, c.Count(at(t, c, "n3")))
				}
			},
		},
		"SettlesCompanyOfLaterOnes": {
			why: "A pod that comes first and wants the company of one that comes later finds it once that has a place.",
			lines: []string{
				"node n1 cpu=4 zone=a", "node n2 cpu=4 zone=b", "pod guest cpu=2 priority=9 near=zone:host node=n1", "pod host cpu=1 node=n1",
			},
			do: func(t *testing.T, c *whatif.Cluster) {
				t.Helper()
				c.Clear(at(t, c, "n1"))
				if left := c.Settle(order(t, c, "n2"), true); left > 0 {
					t.Errorf("%d are left", left)
				}
			},
		},
		"BarredTakesNone": {
			why:   "Nothing is put on a machine that is barred, also once it was cleared and put back.",
			lines: []string{"node n1 cpu=2", "node n2 cpu=2", "pod db cpu=1 node=n1"},
			do: func(t *testing.T, c *whatif.Cluster) {
				t.Helper()
				n1, n2 := at(t, c, "n1"), at(t, c, "n2")
				c.Bar(n2)
				c.Clear(n2)
				c.Restore(n2)
				if c.Goes(n1) {
					t.Error("the pod has gone to a machine that is barred")
				}
			},
		},
		"TakenByWaitingPods": {
			why:   "Waiting pods have their room before any other pod is moved there.",
			lines: []string{"node n1 cpu=2", "node n2 cpu=2", "pod db cpu=1 node=n1", "pod web x2 cpu=1 nominated=n2"},
			do: func(t *testing.T, c *whatif.Cluster) {
				t.Helper()
				n1, n2 := at(t, c, "n1"), at(t, c, "n2")
				if !c.Taken(n2) || c.Taken(n1) || c.Goes(n1) {
					t.Errorf("n2 is taken: %t; n1 is: %t, and goes: %t", c.Taken(n2), c.Taken(n1), c.Goes(n1))
				}
			},
		},
		"AsideCountsAtHome": {
			why: "A pod that is aside keeps others away from its zone as it does where it runs, and takes no room there.",
			lines: []string{
				"node n1 cpu=2 zone=a", "node n2 cpu=4 zone=b", "node n3 cpu=4 zone=a", "node n4 cpu=4 zone=c",
				"pod db cpu=2 apart=zone:web node=n1", "pod full cpu=3 node=n3", "pod web cpu=1 node=n2", "pod fill x4 cpu=1 node=n4",
			},
			do: func(t *testing.T, c *whatif.Cluster) {
				t.Helper()
				n1, n2, n3 := at(t, c, "n1"), at(t, c, "n2"), at(t, c, "n3")
				m := c.Mark()
				c.Clear(n1)
				if left := c.Settle(c.Order([]int{n3}), false); left != 1 {
					t.Fatalf("%d are left", left)
				}
				c.Aside()
				c.Commit(m)
				if !c.HasAside(n1) || c.Goes(n2) {
					t.Errorf("n1 has pods aside: %t; web goes beside them: %t", c.HasAside(n1), c.Goes(n2))
				}
				c.Restore(n1)
				if c.HasAside(n1) || c.Count(n1) != 1 {
					t.Errorf("put back, n1 has %d pods", c.Count(n1))
				}
			},
		},
		"UndoPutsAsideAgain": {
			why:   "What was recalled and bought for, and did not pay, is aside again.",
			lines: append(slices.Clone(sold), "node n1 cpu=8 pool=general", "pod db cpu=1 node=n1", "pod web cpu=1 node=n1"),
			do: func(t *testing.T, c *whatif.Cluster) {
				t.Helper()
				n1 := at(t, c, "n1")
				c.Clear(n1)
				c.Aside()
				before := look(c)
				m := c.Mark()
				c.Recall(n1)
				if bought, ok := c.Buy(); !ok || len(bought) != 1 || c.Price(bought[0]) != 100_000 {
					t.Fatalf("bought %v: %t", bought, ok)
				}
				c.Undo(m)
				if diff := cmp.Diff(before, look(c)); diff != "" {
					t.Error(diff)
				}
			},
		},
		"MovesAsItWasFound": {
			why:   "What was found is done again after everything was put back, the machine bought once more, and once only.",
			lines: append(slices.Clone(sold), "node n1 cpu=8 pool=general", "node n2 cpu=8 pool=general", "pod db x2 cpu=1 node=n1", "pod web cpu=7 node=n2"),
			do: func(t *testing.T, c *whatif.Cluster) {
				t.Helper()
				n1, n2 := at(t, c, "n1"), at(t, c, "n2")
				before := look(c)
				c.Clear(n1)
				if left := c.Settle(c.Order([]int{n2}), false); left != 1 {
					t.Fatalf("%d are left", left)
				}
				bought, _ := c.Buy()
				where := c.Where(n1)
				c.Reset()
				if diff := cmp.Diff(before, look(c)); diff != "" {
					t.Errorf("after Reset: %s", diff)
				}
				m := c.Mark()
				if !c.Move([]int{n1}, [][]int{where}) || c.Count(n1) != 0 || c.Count(n2) != 2 || c.Price(bought[0]) != 100_000 {
					t.Errorf("moved to %v: n1 has %d, n2 has %d", where, c.Count(n1), c.Count(n2))
				}
				c.Undo(m)
				if diff := cmp.Diff(before, look(c)); diff != "" {
					t.Errorf("after Undo: %s", diff)
				}
			},
		},
		"MovesNotWhereOthersAre": {
			why:   "A move whose room another has taken since is told to be impossible.",
			lines: []string{"node n1 cpu=2", "node n2 cpu=2", "node n3 cpu=2", "pod db cpu=1 node=n1", "pod web cpu=2 node=n2"},
			do: func(t *testing.T, c *whatif.Cluster) {
				t.Helper()
				n1, n2, n3 := at(t, c, "n1"), at(t, c, "n2"), at(t, c, "n3")
				if !c.Move([]int{n2}, [][]int{{n3}}) {
					t.Fatal("there was room for it")
				}
				if c.Move([]int{n1}, [][]int{{n3}}) {
					t.Error("there is no room left")
				}
			},
		},
		"ClearsOnceMore": {
			why:   "Pods that were moved onto a machine move on when it is cleared in turn.",
			lines: []string{"node n1 cpu=2", "node n2 cpu=2", "node n3 cpu=2", "pod db cpu=1 node=n1", "pod web cpu=1 node=n2"},
			do: func(t *testing.T, c *whatif.Cluster) {
				t.Helper()
				if moves, homeless := c.Elsewhere(at(t, c, "n1"), at(t, c, "n2")); len(moves) != 2 || len(homeless) > 0 {
					t.Errorf("%v, without a place %v", moves, homeless)
				}
				if moves, homeless := c.Elsewhere(at(t, c, "n1"), at(t, c, "n2"), at(t, c, "n3")); len(moves) > 0 || len(homeless) != 2 {
					t.Errorf("with all machines gone %v, without a place %v", moves, homeless)
				}
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Log(tc.why)
			tc.do(t, cluster(t, tc.lines...))
		})
	}
}

// Undo brings back all that was seen at the mark, whatever was done since.
func TestUndo(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		w, lines := running(t)
		c := whatif.New(w, packing.Options{Steps: 1000}, whatif.Staying)
		n := len(c.Places())
		if n == 0 {
			return
		}
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		gone := map[int]bool{}
		do := func() {
			for range rapid.IntRange(1, 3).Draw(t, "cleared") {
				if i := rapid.IntRange(0, n-1).Draw(t, "machine"); !gone[i] {
					gone[i] = true
					c.Clear(i)
				}
			}
			c.Settle(c.Order(all), false)
			if rapid.Bool().Draw(t, "buys") {
				c.Buy()
			}
		}
		before := look(c)
		outer := c.Mark()
		do()
		c.Aside()
		between := look(c)
		inner := c.Mark()
		for i := range n {
			if c.HasAside(i) {
				c.Recall(i)
			}
		}
		c.Buy()
		c.Undo(inner)
		if diff := cmp.Diff(between, look(c)); diff != "" {
			t.Fatalf("the inner mark:\n%s\n%s", diff, lines)
		}
		c.Undo(outer)
		if diff := cmp.Diff(before, look(c)); diff != "" {
			t.Fatalf("the outer mark:\n%s\n%s", diff, lines)
		}
	})
}
