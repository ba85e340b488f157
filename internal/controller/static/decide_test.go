package static_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/controller/static"
)

func TestNext(t *testing.T) {
	id := world.PoolID{Kind: world.NodePool, Name: "p"}
	claim := func(name string, change ...func(*world.Claim)) world.Claim {
		c := world.Claim{Name: name, Pool: id, ProviderID: "id-" + name, Node: name, Created: 1}
		for _, f := range change {
			f(&c)
		}
		return c
	}
	going := func(c *world.Claim) { c.Deleting = true }
	registered := func(c *world.Claim) { c.Registered = true }
	young := func(c *world.Claim) { c.ProviderID, c.Node = "", "" }
	pod := func(node string, forbidden bool) world.Pod {
		return world.Pod{Key: world.Key{Namespace: "d", Name: node}, Node: node, Disruption: world.PodDisruption{Forbidden: forbidden}}
	}
	tests := map[string]struct {
		why      string
		replicas int
		change   func(*world.Pool)
		claims   []world.Claim
		pods     []world.Pod
		asks     int
		back     []string
		held     int
		says     string // why they are held, in part; nothing is said if it is empty
		came     bool
	}{
		"Up":       {why: "Two are missing.", replicas: 3, claims: []world.Claim{claim("a")}, asks: 2},
		"Kept":     {why: "There are enough.", replicas: 1, claims: []world.Claim{claim("a")}},
		"Came":     {why: "All that was asked for has come up.", replicas: 1, claims: []world.Claim{claim("a", registered)}, came: true},
		"Going":    {why: "One that goes is replaced at once.", replicas: 1, claims: []world.Claim{claim("a", going)}, asks: 1},
		"Limit":    {why: "One that goes counts against the limit.", replicas: 3, change: func(p *world.Pool) { p.Limits = p.Limits.With(amount.Nodes, 2*amount.Unit) }, claims: []world.Claim{claim("a", going)}, asks: 1, held: 2, says: "limit of nodes is reached"},
		"NotReady": {why: "Nothing can be bought of it now.", replicas: 3, change: func(p *world.Pool) { p.NotReady = "no class" }},
		"Deleted":  {why: "Its nodes go with it.", replicas: 3, change: func(p *world.Pool) { p.Deleting = true }},
		"SoldOut":  {why: "Nothing that it allows is to be had.", replicas: 2, change: func(p *world.Pool) { p.Requirements = label.SetOf(label.Is(label.Zone, "b")) }, held: 2, says: "nothing that its requirements allow"},
		"NoTypes":  {why: "Nothing is known of what is sold: its class is being looked at, and that is no limit to tell of.", replicas: 2, change: func(p *world.Pool) { p.Template = "other" }, held: 2},
		"Dynamic":  {why: "Its nodes follow the pods.", replicas: -1},
		"Zero":     {why: "All go.", replicas: 0, claims: []world.Claim{claim("a"), claim("b")}, back: []string{"a", "b"}},
		"Down": {
			why:      "What disturbs least goes first: not there yet, empty, movable.",
			replicas: 1, claims: []world.Claim{claim("a"), claim("b"), claim("c"), claim("d", young)},
			pods: []world.Pod{pod("a", true), pod("b", false)}, back: []string{"d", "c", "b"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pool := world.Pool{ID: id, Template: "t"}
			if tc.replicas >= 0 {
				pool.Replicas = &tc.replicas
			}
			if tc.change != nil {
				tc.change(&pool)
			}
			b := world.NewBuilder()
			errs := []error{b.SetPool(pool), b.SetCatalog(world.Catalog{Template: "t", Shapes: []world.Shape{
				{Name: "m5", Offers: []world.Offer{{Zone: "a", CapacityType: label.OnDemand, Price: 2}, {Zone: "b", CapacityType: label.OnDemand, Gone: true}}},
				{Name: "c5", Offers: []world.Offer{{Zone: "a", CapacityType: label.OnDemand, Price: 1}}},
			}})}
			for _, c := range tc.claims {
				errs = append(errs, b.SetClaim(c))
				if c.Node != "" {
					errs = append(errs, b.SetNode(world.Node{Name: c.Node, Pool: id, Claim: c.Name}))
				}
			}
			for _, p := range tc.pods {
				errs = append(errs, b.SetPod(p))
			}
			for _, err := range errs {
				if err != nil {
					t.Fatal(err)
				}
			}
			w := b.Snapshot(1000)
			got := static.Next(w, w.Pool(id))
			if diff := cmp.Diff(tc.back, got.Back); diff != "" || len(got.New) != tc.asks || got.Held != tc.held || got.Came != tc.came {
				t.Errorf("%s %d asks, want %d; %d held, want %d; came %t, want %t; -want +got\n%s", tc.why, len(got.New), tc.asks, got.Held, tc.held, got.Came, tc.came, diff)
			}
			if !strings.Contains(got.Why, tc.says) || (got.Why == "") != (tc.says == "") {
				t.Errorf("%s It is said %q, want %q", tc.why, got.Why, tc.says)
			}
			for _, a := range got.New {
				if menu, _ := a.Requirements.Find(label.InstanceType); a.Shape != "c5" || !menu.Has("c5") || !menu.Has("m5") {
					t.Errorf("%s asks for %s out of %s, want the cheapest of all that fit", tc.why, a.Shape, menu)
				}
			}
		})
	}
}
