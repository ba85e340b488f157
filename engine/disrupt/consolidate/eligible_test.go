package consolidate

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/world"
)

// Pods are moved only onto machines that are complete, stay, are used, and have been
// left alone for as long as their pools wait before they move pods.
func TestTakes(t *testing.T) {
	const now = 1000
	after := func(s int64) *int64 { return &s }
	used := []world.Pod{{Key: world.Key{Namespace: "d", Name: "web"}, UID: "u", Node: "n"}}
	node := world.Node{Name: "n", Ready: true, Pool: world.PoolID{Kind: world.NodePool, Name: "p"}, Claim: "c", Labels: map[string]string{}}
	claim := world.Claim{Name: "c", Node: "n", Pool: world.PoolID{Kind: world.NodePool, Name: "p"}, Launched: true, Registered: true, Initialized: true, InitializedAt: 100}
	for name, tc := range map[string]struct {
		why    string
		node   func(*world.Node)
		claim  func(*world.Claim)
		pool   world.PoolDisruption
		noPool bool
		empty  bool
		going  string
		want   bool
	}{
		"Well":        {why: "Nothing is against it.", want: true},
		"Unready":     {why: "Its kubelet does not answer.", node: func(n *world.Node) { n.Ready = false }},
		"Leaving":     {why: "Its node is being deleted.", node: func(n *world.Node) { n.Deleting = true }},
		"Ends":        {why: "Its claim is being deleted.", claim: func(c *world.Claim) { c.Deleting = true }},
		"Forming":     {why: "It is not complete.", claim: func(c *world.Claim) { c.Initialized = false }},
		"Goes":        {why: "It goes anyway.", going: "c"},
		"AnotherGoes": {why: "Another goes.", going: "d", want: true},
		"NoPool":      {why: "Its pool is gone, and takes it along.", noPool: true},
		"Empty":       {why: "It is empty, and goes for that.", empty: true},
		"JustNow":     {why: "A pod came just now.", claim: func(c *world.Claim) { c.LastPodEvent = now - 9 }, pool: world.PoolDisruption{MoveAfter: after(10)}},
		"Quiet":       {why: "A pod came as long ago as its pool waits.", claim: func(c *world.Claim) { c.LastPodEvent = now - 10 }, pool: world.PoolDisruption{MoveAfter: after(10)}, want: true},
		"EmptyOnly":   {why: "A pool that moves no pods waits as long as for empty machines.", claim: func(c *world.Claim) { c.LastPodEvent = now - 9 }, pool: world.PoolDisruption{EmptyAfter: after(10)}},
		"MoveCounts":  {why: "What it waits before it moves pods counts first.", claim: func(c *world.Claim) { c.LastPodEvent = now - 9 }, pool: world.PoolDisruption{EmptyAfter: after(10), MoveAfter: after(5)}, want: true},
		"Never":       {why: "A pool that gives nothing back has no reason to wait.", claim: func(c *world.Claim) { c.LastPodEvent = now }, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			n, c := node, claim
			if tc.node != nil {
				tc.node(&n)
			}
			if tc.claim != nil {
				tc.claim(&c)
			}
			must(t, b.SetNode(n))
			must(t, b.SetClaim(c))
			if !tc.noPool {
				must(t, b.SetPool(world.Pool{ID: c.Pool, Disruption: tc.pool}))
			}
			if !tc.empty {
				must(t, b.SetPod(used[0]))
			}
			w := b.Snapshot(now)
			l := eligibility{search: &search{world: w}, going: map[string]string{tc.going: "drifted"}}
			if got := l.takes(w.Place("n")); got != tc.want {
				t.Errorf("it takes pods: %t, want %t: %s", got, tc.want, tc.why)
			}
		})
	}
	b := world.NewBuilder()
	must(t, b.SetClaim(world.Claim{Name: "coming"}))
	must(t, b.SetNode(world.Node{Name: "own", Ready: true}))
	w := b.Snapshot(now)
	l := eligibility{search: &search{world: w}}
	if l.takes(w.Place("coming")) || !l.takes(w.Place("own")) {
		t.Error("a machine that has not joined takes none, and one of no pool does")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
