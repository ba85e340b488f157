package exact_test

import (
	"fmt"
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest/bins"
	"github.com/tenon-sh/tenon/engine/exact"
	"github.com/tenon-sh/tenon/engine/packing"
)

var shop = []string{"type small cpu=2 memory=4Gi price=0.10 zones=a,b", "type large cpu=8 memory=16Gi price=0.40 zones=a,b"}

func world(lines ...string) []string { return append(append([]string{}, shop...), lines...) }

func TestPlaceEach(t *testing.T) {
	bins.Run(t, map[string]bins.Case{
		"OnWhatIsThere": {
			Why:   "A machine that is there comes before a new one.",
			World: world("pool general", "node n1 cpu=2 memory=4Gi zone=a", "pod web cpu=1"),
			Want:  "n1: web",
		},
		"OnWhatIsPlanned": {
			Why:   "A planned machine with room comes before another one.",
			World: world("pool general", "pod first cpu=1", "pod web cpu=1"),
			Start: func(t testing.TB, k *packing.Packing) {
				t.Helper()
				bins.Buy(t, k, "small", "a", "first")
			},
			Want: "small a on-demand: first web",
		},
		"PlannedGrows": {
			Why:   "A planned machine becomes a larger one where that costs less than one more.",
			World: []string{"type small cpu=2 memory=4Gi price=0.10", "type medium cpu=4 memory=8Gi price=0.15", "pool general", "pod first cpu=2", "pod web cpu=2"},
			Start: func(t testing.TB, k *packing.Packing) {
				t.Helper()
				bins.Buy(t, k, "small", "a", "first")
			},
			Want: "medium a on-demand: first web",
		},
		"PlannedStaysSmall": {
			Why:   "A new machine is bought where a larger one would cost more than it.",
			World: []string{"type small cpu=2 memory=4Gi price=0.10", "type medium cpu=4 memory=8Gi price=0.30", "pool general", "pod first cpu=2", "pod web cpu=2"},
			Start: func(t testing.TB, k *packing.Packing) {
				t.Helper()
				bins.Buy(t, k, "small", "a", "first")
			},
			Want: "small a on-demand: first\nsmall a on-demand: web",
		},
		"HeavierPoolFirst": {
			Why:   "The pool of more weight is bought from, although another one sells at less.",
			World: []string{"type small cpu=2 memory=4Gi price=0.10", "type dear cpu=2 memory=4Gi price=0.50", "pool light require=type:small", "pool heavy weight=10 require=type:dear", "pod web cpu=1"},
			Want:  "dear a on-demand: web",
		},
		"EmptiestZone": {
			Why:   "A pod to be spread goes to the zone that has fewest of its like.",
			World: world("pool general", "node na cpu=1 memory=1Gi zone=a", "pod first cpu=1 app=web node=na", "pod web cpu=1 spread=zone:1"),
			Want:  "small b on-demand: web",
		},
		"Squeezed": {
			Why:   "A pod that finds no other place goes onto a planned machine that has more of its like than spreading means it to.",
			World: world("pool general limit=nodes:1", "node n1 cpu=1 memory=1Gi zone=a", "pod first cpu=1 app=web node=n1", "pod web x2 cpu=500m spread=host:1"),
			Start: func(t testing.TB, k *packing.Packing) {
				t.Helper()
				bins.Buy(t, k, "small", "a", "web-0")
			},
			Want: "small a on-demand: web-0 web-1",
		},
		"AfterItsCompany": {
			Why:   "A pod that wants to be with another waits until that has a place, and shares its machine.",
			World: world("pool general", "pod a cpu=1 near=host:z", "pod z cpu=1"),
			Want:  "small a on-demand: a z",
		},
		"CompanyMoves": {
			Why:   "Where the machine with its company is full and cannot grow, one of these moves to a new machine, and the pod follows it.",
			World: []string{"type small cpu=2 memory=4Gi price=0.10", "pool general", "pod z x2 cpu=1 app=z", "pod web cpu=1 near=host:z"},
			Start: func(t testing.TB, k *packing.Packing) {
				t.Helper()
				bins.Buy(t, k, "small", "a", "z-0", "z-1")
			},
			Want: "small a on-demand: web z-1\nsmall a on-demand: z-0",
		},
		"NeededCompanyStays": {
			Why:   "A pod that another one is there for does not move: that would leave it alone.",
			World: []string{"type small cpu=2 memory=4Gi price=0.10", "pool general", "pod z cpu=1", "pod first cpu=1 near=host:z", "pod web cpu=1 near=host:z"},
			Start: func(t testing.TB, k *packing.Packing) {
				t.Helper()
				bins.Buy(t, k, "small", "a", "z", "first")
			},
		},
		"GroupAsOne": {
			Why:   "Pods that have to share a machine do not begin on one that has room for the first of them only.",
			World: world("pool general", "node n1 cpu=1 memory=4Gi zone=a", "pod web x3 cpu=1 near=host:web"),
			Want:  "large a on-demand: web-0 web-1 web-2",
		},
		"LimitLeavesOut": {
			Why:   "A pod for which the limit leaves nothing stays without a place.",
			World: world("pool general limit=cpu:1", "pod web cpu=1"),
		},
	}, func(k *packing.Packing) { (&exact.Placer{Packing: k}).PlaceEach() })
}

// Pods that want their own company on one machine are placed as if they were one.
func TestPlaceGroups(t *testing.T) {
	cases := map[string]bins.Case{
		"OnOneThatHoldsAll": {
			Why:   "The first machine has room for one of them only: they go to the second, which holds all.",
			World: world("pool general", "node n1 cpu=1 memory=4Gi zone=a", "node n2 cpu=4 memory=8Gi zone=a", "pod web x3 cpu=1 near=host:web"),
			Want:  "n2: web-0 web-1 web-2",
		},
		"NewForAll": {
			Why:   "No machine there holds all: the cheapest that does is bought.",
			World: world("pool general", "node n1 cpu=1 memory=4Gi zone=a", "pod web x3 cpu=1 near=host:web"),
			Want:  "large a on-demand: web-0 web-1 web-2",
		},
		"AsManyAsFit": {
			Why:   "No machine on sale holds all: as many as fit share the largest.",
			World: world("pool general", "pod web x3 cpu=3 near=host:web"),
			Want:  "large a on-demand: web-0 web-1\nwaiting: web-2",
		},
		"OthersWait": {
			Why:   "Pods that need no company are left to be placed one by one.",
			World: world("pool general", "node n1 cpu=4 memory=4Gi zone=a", "pod web cpu=1"),
		},
	}
	bins.Run(t, cases, func(k *packing.Packing) { (&exact.Placer{Packing: k}).PlaceGroups(true) })
	there := map[string]bins.Case{"OnOneThatHoldsAll": cases["OnOneThatHoldsAll"], "NothingNew": cases["NewForAll"]}
	there["NothingNew"] = bins.Case{Why: "Where only machines that are there are looked at none is bought.", World: cases["NewForAll"].World}
	bins.Run(t, there, func(k *packing.Packing) { (&exact.Placer{Packing: k}).PlaceGroups(false) })
}

// Pods that keep away from others by zone take theirs before the others have one.
func TestPlaceIsolated(t *testing.T) {
	nodes := []string{"node na cpu=4 memory=8Gi zone=a", "node nb cpu=4 memory=8Gi zone=b", "pool general"}
	bins.Run(t, map[string]bins.Case{
		"CloseTogether": {
			Why:   "They share a zone, so that another one is left to those from which they keep away.",
			World: world(append(nodes, "pod shy x2 cpu=1 apart=zone:web", "pod web x2 cpu=1")...),
			Want:  "na: shy-0 shy-1\nwaiting: web-0 web-1",
		},
		"WhereTheirLikeRuns": {
			Why:   "They join the zone that their like keep the others from already.",
			World: world(append(nodes, "pod old cpu=1 app=shy apart=zone:web node=nb", "pod shy x2 cpu=1 apart=zone:web", "pod web x2 cpu=1")...),
			Want:  "nb: shy-0 shy-1\nwaiting: web-0 web-1",
		},
		"AwayFromTiedOnes": {
			Why:   "The zone is left to those that can be in no other.",
			World: world(append(nodes, "pod shy x2 cpu=1 apart=zone:web", "pod web x2 cpu=1 select=zone:a")...),
			Want:  "nb: shy-0 shy-1\nwaiting: web-0 web-1",
		},
		"OthersWait": {
			Why:   "Pods without such a term, and those that keep away on one machine only, are not looked at.",
			World: world(append(nodes, "pod web x2 cpu=1", "pod api x2 cpu=1 apart=host:api")...),
		},
	}, func(k *packing.Packing) { (&exact.Placer{Packing: k}).PlaceIsolated() })
}

// Pods go where the last plan had them.
func TestKeep(t *testing.T) {
	nodes := []string{"node n1 cpu=4 memory=8Gi zone=a", "node n2 cpu=1 memory=8Gi zone=b", "pool general"}
	bins.Run(t, map[string]bins.Case{
		"WherePlanned": {
			Why:   "A pod keeps the node for which it was planned, although another one comes first.",
			World: world(append(nodes, "pod web cpu=1 planned=n2", "pod other cpu=1")...),
			Want:  "n2: web\nwaiting: other",
		},
		"AsClaimTells": {
			Why:   "Where no plan is remembered the claim tells for which pods it was bought.",
			World: world("pool general", "claim c1 pool=general type=small zone=a cpu=2 memory=4Gi pod=web", "pod web cpu=1", "pod other cpu=1"),
			Want:  "c1: web\nwaiting: other",
		},
		"NoRoomAnyMore": {
			Why:   "A pod for which there is no room any more waits like any other.",
			World: world(append(nodes, "pod full cpu=500m node=n2", "pod web cpu=1 planned=n2")...),
		},
		"NodeIsDeleted": {
			Why:   "A node that is being deleted keeps no place.",
			World: world("pool general", "node n1 cpu=4 memory=8Gi zone=a deleting", "pod web cpu=1 planned=n1"),
		},
		"OneAfterTheOther": {
			Why:   "A pod whose company is kept after it is looked at again.",
			World: world(append(nodes, "pod a cpu=1 near=host:z planned=n1", "pod z cpu=1 planned=n1")...),
			Want:  "n1: a z",
		},
	}, func(k *packing.Packing) { (&exact.Placer{Packing: k}).Keep() })
}

// A machine that some pods of a group tried, and that did not take all of them, may still become all that it might have become before.
func TestGroupLeavesNoTrace(t *testing.T) {
	k := bins.Ready(t, packing.Options{},
		"type m cpu=8 memory=16Gi price=0.40 zones=a,b family=m", "type c cpu=8 memory=16Gi price=0.41 zones=a,b family=c", "pool general", "node n1 cpu=10m memory=1Gi zone=a",
		"pod db cpu=1", "pod crew cpu=1 near=host select=family:m", "pod crew-too cpu=500m app=crew near=host:crew select=zone:b",
	)
	b := bins.Buy(t, k, "m", "a", "db")
	before := fmt.Sprint(b.Allowed, b.Pinned, b.Free, b.Used)
	p := &exact.Placer{Packing: k}
	groups, _ := p.Groups(k.Unplaced)
	if len(groups) != 1 || len(groups[0].Pods) != 2 {
		t.Fatalf("%d groups", len(groups))
	}
	if p.PlaceOnOne(k.Planned, groups[0]) {
		t.Fatal("a pod that wants to be in zone b is in zone a")
	}
	if after := fmt.Sprint(b.Allowed, b.Pinned, b.Free, b.Used); after != before {
		t.Errorf("before it could become %s, and now %s", before, after)
	}
}
