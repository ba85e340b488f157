package main

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/bench/scenario"
	"github.com/tenon-sh/tenon/test/oracle"
)

// options are what the user asks for.
type options struct {
	side    string
	only    string
	pods    string
	seeds   int
	small   int
	cap     time.Duration
	workers int
	steps   int
	out     string
	write   string
	quick   bool
	history string
	from    string
	shrinks string
	owned   int
	owning  time.Duration
	judged  int
	tinies  int
	races   int
	racing  int

	perBeside  int
	besidePods int
	perFamily  int
	perSolved  int
	familyPods string

	scheduler *oracle.Conversation // nil: plans are not judged

	// What a child is told.
	child string
	world worldID
}

// worldID names one world.
type worldID struct {
	Scenario string `json:"scenario"`
	Pods     int    `json:"pods"`
	Seed     uint64 `json:"seed"`
}

func (w worldID) String() string { return fmt.Sprintf("%s %d #%d", w.Scenario, w.Pods, w.Seed) }

// wants reports whether the scenario or family is one of those that are asked for.
func (o *options) wants(name string) bool {
	return o.only == "" || slices.Contains(strings.Split(o.only, ","), name)
}

func (o *options) flags(f *flag.FlagSet) {
	f.StringVar(&o.side, "side", "both", "which side to run: tenon, karpenter or both")
	f.StringVar(&o.only, "only", "", "scenarios, separated by commas; all if empty")
	f.StringVar(&o.pods, "pods", "", "numbers of pods, separated by commas; the scenario's own if empty")
	f.IntVar(&o.seeds, "seeds", 0, "besides, so many worlds of 1,000 pods of each kind")
	f.IntVar(&o.small, "small", 0, "besides, so many worlds of 300 pods of each kind")
	f.DurationVar(&o.cap, "cap", time.Minute, "CPU time after which a side is stopped")
	f.IntVar(&o.workers, "workers", 1, "workers of the peer, that look at open claims side by side")
	f.IntVar(&o.steps, "steps", 0, "bound on our counted work; 0: the default")
	f.StringVar(&o.out, "out", "", "page to write, with its plots beside it; none if empty")
	f.BoolVar(&o.quick, "quick", false, "only worlds of at most 1,000 pods")
	f.StringVar(&o.history, "history", "", "page to add a line with the run's figures to; none if empty")
	f.StringVar(&o.from, "from", "", "results.json of a run to write the page of again, instead of deciding")
	f.IntVar(&o.owned, "own", 5_000, "have the peer's own code consolidate clusters of at most so many pods; 0: none")
	f.DurationVar(&o.owning, "own-cap", 5*time.Minute, "CPU time after which that is stopped")
	f.StringVar(&o.shrinks, "shrink", "900,3000,30000", "pods of clusters that shrank, separated by commas, for consolidation; empty: none. With -from, as -tiny, -races and -families, they are measured again")
	f.IntVar(&o.judged, "judge", 0, "have kube-scheduler's plugins judge answers to worlds of at most so many pods; 0: none")
	f.IntVar(&o.tinies, "tiny", 0, "worlds of a dozen pods at most to hold against their optimum")
	f.IntVar(&o.races, "races", 0, "clusters to bind the pods of, while machines join one by one")
	f.IntVar(&o.racing, "racing", 1_000, "pods of each of these clusters")
	f.IntVar(&o.perFamily, "families", 0, "worlds of each family to plan for; without -out or -history these alone")
	f.IntVar(&o.perSolved, "solver", 0, "small worlds of each of some families to hold against an independent solver, by python3 with scipy; without -out or -history these alone")
	f.IntVar(&o.perBeside, "beside", 0, "worlds of each family to decide by both sides; without -out or -history these alone")
	f.IntVar(&o.besidePods, "beside-pods", 300, "pods of each of these worlds")
	f.StringVar(&o.familyPods, "family-pods", "1000", "numbers of pods of these worlds, separated by commas; of more than 10,000 pods there are fewer worlds")
	f.StringVar(&o.write, "write", "", "folder to write the worlds to, instead of deciding")

	f.StringVar(&o.child, "child", "", "decide one world as this side and print the outcome; for the program itself")
	f.StringVar(&o.world.Scenario, "scenario", "", "with -child: the scenario")
	f.IntVar(&o.world.Pods, "n", 0, "with -child: how many pods wait")
	f.Uint64Var(&o.world.Seed, "seed", 1, "seed of the worlds")
}

// sizes are the numbers of waiting pods that a scenario is run with by default.
func sizes(name string) []int {
	switch name {
	case "diverse":
		return []int{1_000, 10_000, 50_000}
	case "unique":
		return []int{10_000}
	case "groups":
		return []int{1_000, 5_000}
	case "homogeneous":
		return []int{10_000, 50_000}
	case "plain":
		return []int{5_000}
	case "trace":
		return []int{1_000, 5_000, 50_000}
	case "spread", "apart", "mix", "trace-capped":
		return []int{2_000}
	case "preferences":
		return []int{500, 2_000}
	case "tiny": // see -tiny
		return nil
	case "zone-apart":
		return []int{60}
	case "steady":
		return []int{500}
	}
	return []int{1_000}
}

// worlds lists what is to be decided.
func (o *options) worlds() ([]worldID, error) {
	wanted := map[string]bool{}
	for name := range strings.SplitSeq(o.only, ",") {
		if name == "" {
			continue
		}
		if _, ok := scenario.Find(name); !ok {
			return nil, fmt.Errorf("-only: there is no scenario %q", name)
		}
		wanted[name] = true
	}
	var numbers []int
	for s := range strings.SplitSeq(o.pods, ",") {
		if s == "" {
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil || n <= 0 {
			return nil, fmt.Errorf("-pods: %q is not a number of pods", s)
		}
		numbers = append(numbers, n)
	}
	var out []worldID
	for _, s := range scenario.All() {
		if len(wanted) > 0 && !wanted[s.Name] {
			continue
		}
		use := numbers
		if len(use) == 0 {
			use = sizes(s.Name)
		}
		for _, n := range use {
			if o.quick && n > 1_000 {
				continue
			}
			out = append(out, worldID{s.Name, n, o.world.Seed})
		}
	}
	return out, nil
}

// over lists worlds to look at several seeds of.
func (o *options) over() []worldID {
	var out []worldID
	add := func(seeds, pods int, names ...string) {
		for _, name := range names {
			for seed := range seeds {
				out = append(out, worldID{name, pods, uint64(seed + 1)})
			}
		}
	}
	add(o.seeds, 1_000, "plain", "diverse", "spread", "apart", "mix", "trace", "trace-capped")
	add(o.small, 300, "plain", "diverse", "groups", "unique", "spread", "apart", "mix", "trace", "trace-capped", "same-host")
	return out
}
