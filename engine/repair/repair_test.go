package repair_test

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest/bins"
	"github.com/tenon-sh/tenon/engine/exact"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/repair"
)

func repairer(k *packing.Packing) *repair.Repairer {
	return &repair.Repairer{Placer: &exact.Placer{Packing: k}}
}

func TestVerify(t *testing.T) {
	zones := []string{"type small cpu=2 memory=4Gi price=0.10 zones=a,b", "pool general", "node na cpu=10m memory=1Gi zone=a", "node nb cpu=10m memory=1Gi zone=b"}
	bins.Run(t, map[string]bins.Case{
		"SpreadIsEvenedOut": {
			Why:   "Of two pods in one zone, with a skew of one, kube-scheduler would bind only the first: the other goes to the other zone.",
			World: append(zones, "pod web x2 cpu=500m spread=zone:1"),
			Start: func(t testing.TB, k *packing.Packing) {
				t.Helper()
				bins.Buy(t, k, "small", "a", "web-0", "web-1")
			},
			Want: "small a on-demand: web-0\nsmall b on-demand: web-1",
		},
		"NoPlaceIsLeft": {
			Why:   "A pod that cannot be bound where it is, and finds no other place, waits.",
			World: []string{"type small cpu=2 memory=4Gi price=0.10 zones=a", "pool general limit=nodes:1", "pod web x2 cpu=500m apart=host"},
			Start: func(t testing.TB, k *packing.Packing) {
				t.Helper()
				bins.Buy(t, k, "small", "a", "web-0", "web-1")
			},
			Want: "small a on-demand: web-0\nwaiting: web-1",
		},
		"AllCanBeBound": {
			Why:   "Where kube-scheduler can bind all pods in some order, nothing moves.",
			World: append(zones, "pod web x2 cpu=500m spread=zone:1"),
			Start: func(t testing.TB, k *packing.Packing) {
				t.Helper()
				bins.Buy(t, k, "small", "a", "web-0")
				bins.Buy(t, k, "small", "b", "web-1")
			},
		},
		"NotBoundFirst": {
			Why:   "A pod that is spread among others must not depend on being bound before them: in zone a it could be bound first only.",
			World: append(zones, "pod db x2 cpu=500m app=db select=zone:a", "pod web cpu=500m spread=zone:1:of=db"),
			Start: func(t testing.TB, k *packing.Packing) {
				t.Helper()
				bins.Buy(t, k, "small", "a", "db-0", "db-1", "web")
			},
			Want: "small a on-demand: db-0 db-1\nsmall b on-demand: web",
		},
		"NotBoundFirstByPriority": {
			Why:   "That it comes first in the queue makes no difference: the others may run already when it is recreated.",
			World: append(zones, "pod db x2 cpu=500m app=db select=zone:a", "pod web cpu=500m priority=9 spread=zone:1:of=db"),
			Start: func(t testing.TB, k *packing.Packing) {
				t.Helper()
				bins.Buy(t, k, "small", "a", "db-0", "db-1", "web")
			},
			Want: "small a on-demand: db-0 db-1\nsmall b on-demand: web",
		},
	}, func(k *packing.Packing) { repairer(k).Verify() })
}

// However many pods are tried by themselves, each that may be bound after all others has its place, on a machine that was planned or on one more.
func TestAllThatFitAreTried(t *testing.T) {
	for _, terms := range []string{"spread=zone:1", "spread=zone:1 apart=host"} {
		k := bins.Ready(t, packing.Options{}, "type small cpu=2 memory=4Gi price=0.10 zones=a,b", "pool general", "node na cpu=10m memory=1Gi zone=a", "node nb cpu=10m memory=1Gi zone=b",
			"pod web x240 cpu=100m "+terms)
		pods := k.Unplaced
		k.Unplaced = nil
		repairer(k).TrySingly(pods)
		if len(k.Unplaced) > 0 {
			t.Errorf("%s: %d of 240 pods have no place", terms, len(k.Unplaced))
		}
	}
}

func TestTrim(t *testing.T) {
	types := []string{"type small cpu=2 memory=4Gi price=0.10 zones=a,b", "type large cpu=8 memory=16Gi price=0.40 zones=a,b"}
	bins.Run(t, map[string]bins.Case{
		"Smaller": {
			Why:   "A machine becomes the cheapest that holds its pods.",
			World: append(types, "pool general", "pod web cpu=1"),
			Start: func(t testing.TB, k *packing.Packing) {
				t.Helper()
				bins.Buy(t, k, "large", "a", "web")
			},
			Want: "small a on-demand: web",
		},
		"NoRoomInSmaller": {
			Why:   "A machine whose pods the cheaper one does not hold stays.",
			World: append(types, "pool general", "pod web x2 cpu=1500m"),
			Start: func(t testing.TB, k *packing.Packing) {
				t.Helper()
				bins.Buy(t, k, "large", "a", "web-0", "web-1")
			},
		},
		"PodDemandsLarger": {
			Why:   "A machine that its pod demands by name stays, however little of it is used.",
			World: append(types, "pool general", "pod web cpu=1 select=type:large"),
			Start: func(t testing.TB, k *packing.Packing) {
				t.Helper()
				bins.Buy(t, k, "large", "a", "web")
			},
		},
		"MinValues": {
			Why:   "Under a limit a machine is booked as the largest type of its menu: the smaller one would leave only itself on the menu, and the pool wants two types.",
			World: append(types, "pool general require=type:Exists:/2 limit=cpu:20", "pod web cpu=1"),
			Start: func(t testing.TB, k *packing.Packing) {
				t.Helper()
				bins.Buy(t, k, "large", "a", "web")
			},
		},
		"PreferenceIsWorthMore": {
			Why:   "A machine that honours what a pod prefers stays while that is worth more than what another would save.",
			World: []string{"type plain cpu=2 memory=4Gi price=0.100 family=p", "type liked cpu=2 memory=4Gi price=0.101 family=l", "pool general", "pod web cpu=1 prefer=100:family:l"},
			Start: func(t testing.TB, k *packing.Packing) {
				t.Helper()
				bins.Buy(t, k, "liked", "a", "web")
			},
		},
		"PreferenceIsWorthLess": {
			Why:   "A machine that honours what a pod prefers goes if another saves more than that is worth.",
			World: []string{"type plain cpu=2 memory=4Gi price=0.100 family=p", "type liked cpu=2 memory=4Gi price=0.110 family=l", "pool general", "pod web cpu=1 prefer=100:family:l"},
			Start: func(t testing.TB, k *packing.Packing) {
				t.Helper()
				bins.Buy(t, k, "liked", "a", "web")
			},
			Want: "plain a on-demand: web",
		},
	}, func(k *packing.Packing) { repairer(k).Trim() })
}

// What Trim does beside making machines smaller: two become one, or one moves to a cheaper zone, as far as the skew allows.
func TestTrimUneven(t *testing.T) {
	merges := []string{"type small cpu=4 memory=8Gi price=0.10 zones=a,b", "type large cpu=8 memory=16Gi price=0.15 zones=a,b", "pool general"}
	apart := func(t testing.TB, k *packing.Packing) {
		t.Helper()
		bins.Buy(t, k, "small", "a", "web-0")
		bins.Buy(t, k, "small", "b", "web-1")
	}
	moves := []string{"type dear cpu=4 memory=8Gi price=0.20 zones=a", "type cheap cpu=4 memory=8Gi price=0.10 zones=b", "pool general"}
	dear := func(t testing.TB, k *packing.Packing) {
		t.Helper()
		bins.Buy(t, k, "dear", "a", "web-0")
		bins.Buy(t, k, "cheap", "b", "web-1")
	}
	bins.Run(t, map[string]bins.Case{
		"Merged": {
			Why:   "A skew of two lets both pods lie in one zone, where one machine is cheaper than two.",
			World: append(merges, "pod web x2 cpu=3 spread=zone:2"), Start: apart,
			Want: "large a on-demand: web-0 web-1",
		},
		"SkewKeepsApart": {
			Why:   "A skew of one keeps the zones even, whatever one machine would save.",
			World: append(merges, "pod web x2 cpu=3 spread=zone:1", "pod other x2 cpu=3 spread=zone:2"), Start: apart,
		},
		"OneIsDearer": {
			Why:   "Two machines stay two where one with room for all costs more.",
			World: []string{merges[0], "type large cpu=8 memory=16Gi price=0.30 zones=a,b", merges[2], "pod web x2 cpu=3 spread=zone:2"}, Start: apart,
		},
		"MovedToCheaperZone": {
			Why:   "A skew of two lets the machine be in the cheaper zone.",
			World: append(moves, "pod web x2 cpu=3 spread=zone:2"), Start: dear,
			Want: "cheap b on-demand: web-0\ncheap b on-demand: web-1",
		},
		"SkewKeepsInZone": {
			Why:   "A skew of one keeps the machine in its zone, which counts as it has another node.",
			World: append(moves, "node na cpu=100m memory=1Gi zone=a", "pod web x2 cpu=3 spread=zone:1", "pod other x2 cpu=3 spread=zone:2"), Start: dear,
		},
		"RunningPodsCount": {
			Why:   "Pods that run in the cheaper zone count: with one there already, two more would be one too many.",
			World: append(moves, "node na cpu=100m memory=1Gi zone=a", "node nb cpu=100m memory=1Gi zone=b", "pod first cpu=1m app=web node=nb", "pod web x2 cpu=3 spread=zone:2"),
			Start: dear,
		},
	}, func(k *packing.Packing) { repairer(k).Trim() })
}

func TestExchange(t *testing.T) {
	lines := []string{
		"type small cpu=4 memory=8Gi price=0.2 zones=a,b", "pool general",
		"node here cpu=4 memory=8Gi zone=a", "node full-a cpu=1 memory=1Gi zone=a", "node full-b cpu=1 memory=1Gi zone=b",
		"claim coming pool=general type=small zone=a cpu=4 memory=8Gi", "claim other pool=general type=small zone=b cpu=4 memory=8Gi",
		"pod first cpu=1 memory=1Gi app=web node=full-a", "pod there cpu=1 memory=1Gi node=full-b",
		"pod web x2 cpu=2 memory=1Gi spread=zone:1 app=web",
	}
	start := func(t testing.TB, k *packing.Packing) {
		t.Helper()
		bins.On(t, k, "here", "web-1")
		bins.On(t, k, "other", "web-0")
		bins.On(t, k, "coming", "plain-0", "plain-1", "plain-2", "plain-3")
	}
	nominated := packing.Options{Nominated: true}
	bins.Run(t, map[string]bins.Case{
		"WithLaterMachine": {
			Why: "The pod cannot be bound here yet, as its zone is ahead: it changes places with pods of a machine on its way.", Options: nominated,
			World: append(lines, "pod plain x4 cpu=1 memory=1Gi"), Start: start,
			Want: "coming: plain-2 plain-3 web-1\nhere: plain-0 plain-1\nother: web-0",
		},
		"NotNominated": {
			Why:   "Where pods are not nominated it does not matter which of them can be bound first.",
			World: append(lines, "pod plain x4 cpu=1 memory=1Gi"), Start: start,
		},
		"OthersAreHeld": {
			Why: "Pods that depend on their machine are not asked in return.", Options: nominated,
			World: append(lines, "pod plain x4 cpu=1 memory=1Gi near=host:plain"), Start: start,
		},
	}, func(k *packing.Packing) { repairer(k).Exchange() })
}

func TestDisperse(t *testing.T) {
	lines := []string{"type large cpu=8 memory=16Gi price=0.40 zones=a,b", "pool general", "pod web x4 cpu=2 spread=zone:1"}
	start := func(t testing.TB, k *packing.Packing) {
		t.Helper()
		bins.Buy(t, k, "large", "a", "web-0", "web-1")
		bins.Buy(t, k, "large", "a", "plain-0", "plain-1", "plain-2", "plain-3")
		bins.Buy(t, k, "large", "b", "web-2", "web-3")
	}
	nominated := packing.Options{Nominated: true}
	bins.Run(t, map[string]bins.Case{
		"AmongMachinesOfZone": {
			Why: "Of two pods on one machine the second has to wait for other zones: it goes to another machine of the zone, for one that comes back.", Options: nominated,
			World: append(lines, "pod plain x4 cpu=2"), Start: start,
			Want: "large a on-demand: plain-0 web-1\nlarge a on-demand: plain-1 plain-2 plain-3 web-0\nlarge b on-demand: web-2 web-3",
		},
		"NotNominated": {
			Why:   "Where pods are not nominated it does not matter how many are on one machine.",
			World: append(lines, "pod plain x4 cpu=2"), Start: start,
		},
		"OthersStay": {
			Why: "Pods that want to be together stay where they are, so there is nothing to have in return.", Options: nominated,
			World: append(lines, "pod plain x4 cpu=2 near=host:plain"), Start: start,
		},
	}, func(k *packing.Packing) { repairer(k).Disperse() })
}
