package menu_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/menu"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/world"
)

func TestStatic(t *testing.T) {
	two := []string{"type small cpu=2 memory=4Gi price=0.10 zones=a,b", "type large cpu=8 memory=16Gi price=0.11 zones=a,b"}
	twice := "small a 100000: small large; a b; on-demand; next large"
	tests := map[string]struct {
		why     string
		world   []string
		options packing.Options
		room    string // cpu that the machine is to have
		change  func(*world.Builder)
		want    []string // what the first three asks say
	}{
		"WhatPodsGet": {why: "The menu is the one that pods get.", world: append(two, "pool p replicas=3"), want: []string{twice, twice, twice}},
		"Limit": {
			why: "What is there counts against the limit, and what was asked for before.", world: append(two, "pool p replicas=9 limit=nodes:3", "node n pool=p cpu=2"),
			want: []string{twice, twice, "limit (limits.nodes leaves no room for a further node: those that are being deleted count until they are gone)"},
		},
		"Reservation": {
			why: "A reservation is used first, and until it is used up.", world: []string{"type small cpu=2 memory=4Gi price=0.10 reserved=r:2", "pool p replicas=3"},
			want: []string{"small a 0: small; a; reserved", "small a 0: small; a; reserved", "small a 100000: small; a; on-demand"},
		},
		"SoldOut": {
			why: "What is sold out is not asked for.", world: []string{"type small cpu=2 memory=4Gi price=0.10 gone", two[1], "pool p replicas=3"},
			want: []string{"large a 110000: large; a b; on-demand"},
		},
		"AllSoldOut": {
			why: "Nothing is left.", world: []string{"type small cpu=2 memory=4Gi price=0.10 gone", "pool p replicas=3"},
			want: []string{"no-offer (no type that its requirements allow is sold now)"},
		},
		"Requirements": {why: "Only what the pool allows is asked for.", world: append(two, "pool p replicas=1 require=type:large require=zone:b"), want: []string{"large b 110000: large; b; on-demand"}},
		"MinValues": {
			why: "minValues are kept.", world: append(two, "pool p replicas=1 require=type:Exists:/2"), want: []string{twice},
		},
		"TooFewValues": {
			why: "Where they cannot be, nothing is asked for.", world: append(two, "pool p replicas=1 require=type:Exists:/3"),
			want: []string{"min-values (minValues of node.kubernetes.io/instance-type cannot be met by what is sold now: the types that one node may become have only 2 values)"},
		},
		"FewerValues": {
			why: "Unless they may be lowered.", world: append(two, "pool p replicas=1 require=type:Exists:/3"), options: packing.Options{MinValuesPolicy: packing.BestEffort},
			want: []string{"small a 100000: small large; a b; on-demand; relaxed; next large"},
		},
		"Daemons": {
			why: "A type without room for the DaemonSets that would run there is left out.", world: append(two, "daemonset log cpu=3", "pool p replicas=1"),
			want: []string{"large a 110000: large; a b; on-demand"},
		},
		"NoRoomForDaemons": {
			why: "Unless there is no other: the pool keeps its number all the same.", world: append(two, "daemonset log cpu=9", "pool p replicas=1"), want: []string{twice},
		},
		"Ordinary": {
			why: "Accelerators are left out where there is something else.", world: []string{"type gpu cpu=2 memory=4Gi gpu=1 price=0.09", two[1], "pool p replicas=1"},
			want: []string{"large a 110000: large; a b; on-demand; without gpu: bare metal or with accelerators"},
		},
		"Accelerators": {why: "They are asked for where there is nothing else.", world: []string{"type gpu cpu=2 memory=4Gi gpu=1 price=0.09", "pool p replicas=1"}, want: []string{"gpu a 90000: gpu; a; on-demand"}},
		"Room":         {why: "It has room for what is to move there.", world: append(two, "pool p replicas=1"), room: "3", want: []string{"large a 110000: large; a b; on-demand"}},
		"NoRoom":       {why: "If nothing has as much, it is as without.", world: append(two, "pool p replicas=1"), room: "30", want: []string{twice}},
		"NotReady":     {why: "A pool that is not ready buys nothing.", world: append(two, "pool p replicas=1 not-ready=broken"), want: []string{"not-ready (broken)"}},
		"Unknown": {
			why: "Nothing is known of what is sold.", world: []string{"pool p replicas=1"}, change: func(b *world.Builder) { b.DeleteCatalog("t") },
			want: []string{"not-ready (nothing is known of the machines it may buy: its class is not there, or not looked at yet)"},
		},
		"BackOff": {
			why: "While purchases of the pool have to wait, so do those of its replicas.", world: append(two, "pool p replicas=1", "now 1000"),
			change: func(b *world.Builder) {
				if err := b.SetBackoff(world.Backoff{BackoffID: world.BackoffID{Pool: world.PoolID{Kind: world.NodePool, Name: "p"}, Template: "t"}, Times: 3, Last: 999, Why: "it did not join"}); err != nil {
					panic(err)
				}
			},
			want: []string{"back-off (the last 3 nodes it asked for came to nothing, the last: it did not join; the next is asked for after 00:16:59 UTC)"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Log(tc.why)
			s := enginetest.NewScene()
			for _, line := range tc.world {
				if err := s.Line(line); err != nil {
					t.Fatal(err)
				}
			}
			w := s.World()
			if tc.change != nil {
				b := w.Edit()
				tc.change(b)
				w = b.Snapshot(w.At())
			}
			var room amount.List
			if tc.room != "" {
				n, err := amount.Parse(tc.room)
				if err != nil {
					t.Fatal(err)
				}
				room = amount.Of(amount.Entry{Name: amount.CPU, Value: n})
			}
			m, got := menu.NewStatic(w, tc.options), []string{}
			taken := map[string]bool{}
			for range 3 {
				a, why := m.Ask(w.Pools()[0], room)
				if why != nil {
					said, _, _ := strings.Cut(why.Line(), " →")
					got = append(got, strings.TrimPrefix(said, "NodePool p: "))
					break
				}
				if taken[a.Name] || len(a.Requests) > 0 {
					t.Errorf("%s is the name of two, or asks for %v", a.Name, a.Requests)
				}
				taken[a.Name] = true
				got = append(got, text(a))
			}
			got = got[:min(len(got), len(tc.want))]
			if diff := cmp.Diff(tc.want, slices.Clip(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
