package search_test

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest/bins"
	"github.com/tenon-sh/tenon/engine/exact"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/search"
)

func searcher(k *packing.Packing) *search.Searcher {
	s := &search.Searcher{Placer: &exact.Placer{Packing: k}}
	s.Proof = s.NewProof()
	return s
}

// What Search alone places: pods of whole classes on new machines.
func TestSearch(t *testing.T) {
	two := []string{"type small cpu=2 memory=4Gi price=0.10 zones=a,b", "type large cpu=8 memory=16Gi price=0.30 zones=a,b", "pool general"}
	world := func(lines ...string) []string { return append(append([]string{}, two...), lines...) }
	bins.Run(t, map[string]bins.Case{
		"CheapestForAll": {
			Why:   "Eight pods share one large machine, which costs less than four small ones.",
			World: world("pod web x8 cpu=1"),
			Want:  "large a on-demand: web-0 web-1 web-2 web-3 web-4 web-5 web-6 web-7",
		},
		"ClassesShareMachines": {
			Why:   "Classes are placed together: what one leaves free the other uses.",
			World: world("pod web x3 cpu=2", "pod api x2 cpu=1"),
			Want:  "large a on-demand: api-0 api-1 web-0 web-1 web-2",
		},
		"CapOnAMachine": {
			Why:   "Pods that keep away from their like on a machine get one each.",
			World: world("pod web x2 cpu=1 apart=host"),
			Want:  "small a on-demand: web-0\nsmall a on-demand: web-1",
		},
		"SharedCap": {
			Why:   "Classes that count for one spread over hosts share its cap.",
			World: world("pod web cpu=1 app=x spread=host:1:of=x", "pod api cpu=500m app=x spread=host:1:of=x"),
			Want:  "small a on-demand: api\nsmall a on-demand: web",
		},
		"Conflict": {
			Why:   "Classes of which one keeps away from the other share no machine.",
			World: world("pod web cpu=1 apart=host:api", "pod api cpu=1"),
			Want:  "small a on-demand: api\nsmall a on-demand: web",
		},
		"SharesOfZones": {
			Why:   "A class that is spread over zones is shared out evenly.",
			World: world("pod web x4 cpu=1 spread=zone:1"),
			Want:  "small a on-demand: web-0 web-1\nsmall b on-demand: web-2 web-3",
		},
		"CheapestZoneFirst": {
			Why: "Where zones differ in price, the cheapest takes as many more as the skew allows.",
			World: []string{
				"type small cpu=2 memory=4Gi price=0.20 zones=a", "type other cpu=2 memory=4Gi price=0.10 zones=b", "type third cpu=2 memory=4Gi price=0.15 zones=c", "pool general",
				"pod one cpu=2 spread=zone:1", "pod four x4 cpu=2 spread=zone:2",
			},
			Want: "other b on-demand: four-0\nother b on-demand: four-1\nother b on-demand: one\nthird c on-demand: four-2\nthird c on-demand: four-3",
		},
		"OneZoneTogether": {
			Why:   "Classes that want to be together by zone get one that both can reach.",
			World: world("pod web x2 cpu=2 app=x near=zone:x", "pod api x2 cpu=2 app=x near=zone:x select=zone:b"),
			Want:  "large b on-demand: api-0 api-1 web-0 web-1",
		},
		"LimitsGoToWhatIsDearWithout": {
			Why: "What a heavier pool may have goes to pods that cost most without it, and not to as many pods as possible.",
			World: []string{
				"type small cpu=8 memory=32Gi price=0.10 family=c", "type large cpu=8 memory=32Gi price=0.80 family=m",
				"pool reserved weight=50 limit=cpu:8 require=family:In:c", "pool team taint=team=a:NoSchedule require=family:In:c", "pool others require=family:In:m",
				"pod batch x8 cpu=1 tolerate=team", "pod web x2 cpu=4",
			},
			Want: "small a on-demand: batch-0 batch-1 batch-2 batch-3 batch-4 batch-5 batch-6 batch-7\nsmall a on-demand: web-0 web-1",
		},
		"CountedWithoutConstraint": {
			Why:   "A pod without the constraint that counts for it goes where the others can stay even.",
			World: world("pod web x3 cpu=2 spread=zone:1", "pod job cpu=2 app=web"),
			Want:  "small a on-demand: job\nsmall a on-demand: web-0\nsmall b on-demand: web-1\nsmall b on-demand: web-2",
		},
		"CountedWhereItHasToBe": {
			Why:   "Pods that go to one zone only and count are there first, and those with the constraint make up for them.",
			World: world("pod web x2 cpu=2 spread=zone:1", "pod job x2 cpu=2 app=web select=zone:b"),
			Want:  "small a on-demand: web-0\nsmall a on-demand: web-1\nsmall b on-demand: job-0\nsmall b on-demand: job-1",
		},
		"SpreadAmongOthers": {
			Why:   "Pods that are spread among others that they are none of keep out of the zone where these are ahead.",
			World: world("pod web x2 cpu=2 spread=zone:1:of=api", "pod api x2 cpu=2 select=zone:a", "node nb cpu=10m memory=1Gi zone=b"),
			Want:  "small a on-demand: api-0\nsmall a on-demand: api-1\nsmall b on-demand: web-0\nsmall b on-demand: web-1",
		},
		"CountedOnMachine": {
			Why:   "Pods that are spread over machines share none with one that counts and does not carry the constraint.",
			World: world("pod web x2 cpu=500m spread=host:1", "pod job cpu=100m app=web"),
			Want:  "small a on-demand: job\nsmall a on-demand: web-0\nsmall a on-demand: web-1",
		},
		"CompanyOfOthers": {
			Why:   "A pod with the labels of pods that want to be together by zone goes to their zone: bound elsewhere before them it would draw them along.",
			World: world("pod web x2 cpu=2 near=zone:web select=zone:b", "pod job cpu=2 app=web"),
			Want:  "large b on-demand: job web-0 web-1",
		},
		"CountedAndPlacedByItself": {
			Why:   "Where a pod that counts has to be placed by itself, those with the constraint wait for it.",
			World: world("pod web x2 cpu=2 spread=zone:1", "pod job cpu=2 app=web near=host:db", "pod db cpu=1 app=db"),
			Want:  "small a on-demand: db\nwaiting: job web-0 web-1",
		},
		"LimitIsABudget": {
			Why:   "What a limit does not allow is not bought: the pods that it leaves out wait.",
			World: []string{two[0], "pool general limit=cpu:4", "pod web x3 cpu=2"},
			Want:  "small a on-demand: web-0\nsmall a on-demand: web-1\nwaiting: web-2",
		},
		"WishIsWorthIt": {
			Why:   "A zone that is preferred is taken where it costs little more.",
			World: []string{"type small cpu=2 memory=4Gi price=0.100 zones=a", "type other cpu=2 memory=4Gi price=0.101 zones=b", "pool general", "pod web cpu=1 prefer=100:zone:b"},
			Want:  "other b on-demand: web",
		},
		"WishCostsTooMuch": {
			Why:   "A zone that is preferred is not taken where it costs more than that is worth.",
			World: []string{"type small cpu=2 memory=4Gi price=0.100 zones=a", "type other cpu=2 memory=4Gi price=0.200 zones=b", "pool general", "pod web cpu=1 prefer=100:zone:b"},
			Want:  "small a on-demand: web",
		},
		"HeavierPoolFirst": {
			Why:   "Pools of more weight are bought from first, those of less for what is left.",
			World: []string{"type small cpu=2 memory=4Gi price=0.10", "type dear cpu=2 memory=4Gi price=0.50", "pool light require=type:small", "pool heavy weight=10 limit=nodes:1 require=type:dear", "pod web x2 cpu=2"},
			Want:  "dear a on-demand: web-0\nsmall a on-demand: web-1",
		},
		"CompanyOnTheMachine": {
			Why:   "Pods that want the company of others on the very machine come with one of these each.",
			World: world("pod db x2 cpu=1", "pod big cpu=1500m app=db", "pod job x2 cpu=1 near=host:db", "pod tiny cpu=100m near=host:db"),
			Want:  "large a on-demand: big db-0 db-1 job-0 job-1 tiny",
		},
		"CompanyForSeveral": {
			Why:   "Where company is rare each of it has several beside it.",
			World: world("pod db x2 cpu=500m", "pod job x4 cpu=500m near=host:db", "pod apart x2 cpu=500m apart=host"),
			Want:  "small a on-demand: apart-0 db-1 job-0 job-2\nsmall a on-demand: apart-1 db-0 job-1 job-3",
		},
		"CompanyThatIsSpread": {
			Why:   "Pods that want the company of others that are spread come after these.",
			World: world("pod db x2 cpu=2 spread=zone:1", "pod job x2 cpu=1 near=host:db"),
			Want:  "small a on-demand: db-0\nsmall b on-demand: db-1\nwaiting: job-0 job-1",
		},
		"TooMuchCompany": {
			Why:   "Where no machine holds a pod with its share of those that want its company, these come later.",
			World: world("pod db cpu=1", "pod job x8 cpu=1 near=host:db"),
			Want:  "small a on-demand: db\nwaiting: job-0 job-1 job-2 job-3 job-4 job-5 job-6 job-7",
		},
		"NotForEachOther": {
			Why:   "Pods that want the company of another class on the very machine are left to be placed one by one.",
			World: world("pod web x2 cpu=1 near=host:api"),
		},
	}, func(k *packing.Packing) { searcher(k).Search() })
}

// What Place does beside Search: room that is there comes first, what only exotic types host brings others along, and the rest goes one by one.
func TestPlace(t *testing.T) {
	small := "type small cpu=2 memory=4Gi price=0.10 zones=a,b"
	queue := []string{small, "pool general limit=nodes:1", "pod low cpu=1", "pod mate cpu=1 priority=10", "pod top cpu=1 near=zone:mate priority=10"}
	cases := map[string]bins.Case{
		"WhatIsThereFirst": {
			Why:   "Whole classes fill the machines that are there before any is bought.",
			World: []string{small, "pool general", "node n1 cpu=2 memory=4Gi zone=a", "pod web x3 cpu=1"},
			Want:  "n1: web-0 web-1\nsmall a on-demand: web-2",
		},
		"WhatIsThereInOrder": {
			Why:   "Where there is room for all, machines are filled one after the other, so that some may stay empty.",
			World: []string{small, "pool general", "node na cpu=8 memory=32Gi zone=a", "node nb cpu=8 memory=8Gi zone=a", "pod web x4 cpu=2 memory=2Gi"},
			Want:  "na: web-0 web-1 web-2 web-3",
		},
		"WhatIsThereEvenly": {
			Why:   "Where there is not, each gets pods by which its cores and its memory run out together: in order of names, three pods would be left.",
			World: []string{small, "pool general", "node na cpu=8 memory=8Gi zone=a", "node nb cpu=8 memory=32Gi zone=a", "pod cores x4 cpu=2 memory=2Gi", "pod room x4 cpu=2 memory=8Gi", "pod web cpu=1"},
			Want:  "na: cores-0 cores-1 cores-2 cores-3\nnb: room-0 room-1 room-2 room-3\nsmall a on-demand: web",
		},
		"WhatIsThereBeforeWhatComes": {
			Why:   "A complete machine takes pods before one that is on its way, however much better that suits them.",
			World: []string{small, "pool general", "node na cpu=2 memory=32Gi zone=a", "claim nb pool=general cpu=2 memory=4Gi zone=a", "pod web x2 cpu=1 memory=2Gi", "pod more x3 cpu=1 memory=2Gi priority=-1"},
			Want:  "na: web-0 web-1\nnb: more-0 more-1\nsmall a on-demand: more-2",
		},
		"MemoryAlone": {
			Why:   "Pods that ask for no cores go where there are fewest for the memory.",
			World: []string{small, "pool general", "node na cpu=8 memory=8Gi zone=a", "node nb cpu=1 memory=8Gi zone=a", "pod cache x2 cpu=0 memory=4Gi priority=10", "pod web x5 cpu=2 memory=1Gi"},
			Want:  "na: web-0 web-1 web-2 web-3\nnb: cache-0 cache-1\nsmall a on-demand: web-4",
		},
		"SpreadOverWhatIsThere": {
			Why:   "The room that is there takes no more than the skew allows, and the rest goes to a new machine in the other zone.",
			World: []string{small, "pool general", "node n1 cpu=2 memory=4Gi zone=a", "node nb cpu=10m memory=1Gi zone=b", "pod web x2 cpu=1 spread=zone:1"},
			Want:  "n1: web-0\nsmall b on-demand: web-1",
		},
		"ExoticTakesOthers": {
			Why:   "A machine that is bought for its accelerator takes ordinary pods into the room it has left.",
			World: []string{small, "type gpu cpu=8 memory=16Gi gpu=1 price=1.00", "pool general", "pod train cpu=1 gpu=1", "pod web x2 cpu=2"},
			Want:  "gpu a on-demand: train web-0 web-1",
		},
		"ExoticIsFilledEvenly": {
			Why:   "What it takes uses up its memory with its cores, whichever pods are larger.",
			World: []string{small, "type gpu cpu=8 memory=16Gi gpu=1 price=1.00", "pool general", "pod train cpu=2 gpu=1", "pod cores x4 cpu=2 memory=1Gi", "pod room x2 cpu=1 memory=6Gi"},
			Want:  "gpu a on-demand: cores-0 cores-1 room-0 room-1 train\nsmall a on-demand: cores-2\nsmall a on-demand: cores-3",
		},
		"OneByOneAtLast": {
			Why:   "What cannot be searched for is placed one by one.",
			World: []string{small, "pool general", "pod web cpu=1 near=host:api", "pod api cpu=1"},
			Want:  "small a on-demand: api web",
		},
		"PriorityIsOrder": {
			Why:   "Pods of more priority get what there is for one.",
			World: []string{small, "pool general limit=nodes:1", "pod low cpu=2", "pod top cpu=2 priority=10"},
			Want:  "small a on-demand: top\nwaiting: low",
		},
		"SearchBeforeOneByOne": {
			Why:   "Otherwise all that can be searched for comes before what has to be placed one by one, whatever its priority.",
			World: queue,
			Want:  "small a on-demand: low mate\nwaiting: top",
		},
	}
	bins.Run(t, cases, func(k *packing.Packing) { searcher(k).Place(false, false) })
	strictly := map[string]bins.Case{
		"OneByOneOfMorePriority": {
			Why:   "Strictly by priority, what has to be placed one by one comes before what could be searched for but has less priority.",
			World: queue,
			Want:  "small a on-demand: mate top\nwaiting: low",
		},
	}
	bins.Run(t, strictly, func(k *packing.Packing) { searcher(k).Place(true, false) })
	isolated := map[string]bins.Case{
		"IsolatedFirst": {
			Why:   "Those that keep away from others by zone share one before the others have any.",
			World: []string{small, "pool general", "node na cpu=4 memory=8Gi zone=a", "node nb cpu=4 memory=8Gi zone=b", "pod shy x2 cpu=1 apart=zone:web", "pod web x2 cpu=2"},
			Want:  "na: shy-0 shy-1\nnb: web-0 web-1",
		},
	}
	bins.Run(t, isolated, func(k *packing.Packing) { searcher(k).Place(false, true) })
}

func TestBound(t *testing.T) {
	small := "type small cpu=2 memory=4Gi price=0.10 zones=a,b"
	tests := map[string]struct {
		why   string
		world []string
		want  money.Micro
		exact bool // without a search
	}{
		"Searched":       {"Two machines hold the pods, and fewer cannot.", []string{small, "pool general", "pod web x2 cpu=2"}, 200_000, false},
		"OneByOne":       {"Pods that were placed one by one are proven for all the ways they might have gone.", []string{small, "pool general", "pod web cpu=1 near=host:api", "pod api cpu=1"}, 100_000, false},
		"Caps":           {"Pods that keep apart need a machine each, however small they are.", []string{small, "pool general", "pod web x3 cpu=100m apart=host"}, 300_000, false},
		"CapsOfOneByOne": {"So do those that were placed one by one.", []string{small, "pool general", "pod web x3 cpu=100m apart=host"}, 300_000, true},
		"SharedCap":      {"A cap that two classes share counts.", []string{small, "pool general", "pod web cpu=100m app=x spread=host:1:of=x", "pod api cpu=200m app=x spread=host:1:of=x"}, 200_000, true},
		"NothingToBuy":   {"Pods that go to what is there cost nothing.", []string{small, "pool general", "node n1 cpu=2 memory=4Gi zone=a", "pod web cpu=1"}, 0, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Log(tc.why)
			s := searcher(bins.Ready(t, packing.Options{ExactOnly: tc.exact}, tc.world...))
			s.Place(false, false)
			if got := s.Bound(); got != tc.want {
				t.Errorf("%d is proven and not %d for\n%s", got, tc.want, bins.Text(s.Packing))
			}
		})
	}
}
