package consolidate

import (
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// clusterOf is a search over one node of a pool.
func clusterOf(t *testing.T) *search {
	t.Helper()
	s := enginetest.NewStage()
	for _, line := range []string{"type large cpu=2 price=0.10", "pool p", "node n1 cpu=2 zone=a pool=p type=large", "pod a cpu=1 node=n1"} {
		must(t, s.Scene.Line(line))
	}
	w, err := s.World()
	must(t, err)
	return newSearch(w, nil, Options{})
}

// What is changed saves what any change has to, what its pods' moves are worth, and, if
// something is bought, a share of what is given back: just that is enough, and less is not.
func TestPays(t *testing.T) {
	s := clusterOf(t)
	s.options = Options{LeastSaving: 20, LeastShare: 10}
	for name, tc := range map[string]struct {
		why                   string
		saving, price, effort money.Micro
		bought                bool
		code                  reason.Code // "": it pays
		says                  string
	}{
		"Pays":    {"It saves enough.", 30, 200, 10, true, "", ""},
		"Nothing": {"It costs the same.", 0, 200, 0, true, reason.NotCheaper, "a replacement costs $0.0002 an hour, and this one costs $0.0002: nothing would be saved"},
		"Dearer":  {"It costs more.", -100, 200, 0, true, reason.NotCheaper, "a replacement costs $0.0003 an hour, and this one costs $0.0002"},
		"Least":   {"It saves just what any change has to.", 20, 100, 0, true, "", ""},
		"Less":    {"It saves less.", 19, 100, 0, true, reason.SavesLittle, "any change has to save $0.0000"},
		"Share":   {"It saves just a tenth.", 20, 200, 0, true, "", ""},
		"Bit":     {"It saves less than that.", 20, 201, 0, true, reason.SavesLittle, "and has to save 10 %"},
		"Free":    {"Nothing is bought: a share is not asked for.", 20, 201, 0, false, "", ""},
		"Effort":  {"It saves just what the moves are worth.", 40, 100, 40, true, "", ""},
		"Moves":   {"The moves are worth more.", 40, 100, 41, true, reason.SavesLittle, "a change that evicts its pods has to save"},
	} {
		t.Run(name, func(t *testing.T) {
			g := group{machines: []int{0}, saving: tc.saving}
			if tc.bought {
				g.bought = []int{1}
			}
			why := s.pays(g, tc.price, tc.effort)
			if (why == nil) != (tc.code == "") || why != nil && (why.Code != tc.code || !strings.Contains(why.Detail, tc.says)) {
				t.Errorf("it says %v, want %s %q: %s", why, tc.code, tc.says, tc.why)
			}
		})
	}
}

// When to look again is the first of all times that have not come yet.
func TestLater(t *testing.T) {
	s := &search{world: world.NewBuilder().Snapshot(100)}
	for _, tc := range []struct{ at, want int64 }{{99, 0}, {100, 0}, {200, 200}, {300, 200}, {150, 150}, {100, 150}} {
		if s.later(tc.at); s.plan.Again != tc.want {
			t.Errorf("after %d it is to be looked at again at %d, want %d", tc.at, s.plan.Again, tc.want)
		}
	}
}

// What goes anyway counts against its pool's budgets.
func TestWhatGoesAnywayTakesBudget(t *testing.T) {
	s := clusterOf(t)
	id := world.PoolID{Kind: world.NodePool, Name: "p"}
	before := s.rooms()[id]
	s.going = []plan.Give{{Claim: "n1", Pool: id}}
	if left := s.rooms()[id]; left != before-1 {
		t.Errorf("%d more may go, want %d", left, before-1)
	}
}

// A pool's machines are looked at once no pod has come or gone for as long as it waits.
func TestTooSoon(t *testing.T) {
	for _, tc := range []struct {
		quiet, after string
		again        int64
		initialized  bool
	}{{"10", "10", 0, true}, {"9", "10", enginetest.StageNow + 1, true}, {"9", "10", 0, false}} {
		s := enginetest.NewStage()
		for _, line := range []string{"type large cpu=2 price=0.10", "pool p", "node n1 cpu=2 zone=a pool=p type=large", "pod a cpu=1 node=n1"} {
			must(t, s.Scene.Line(line))
		}
		s.Change("pool", "p", map[string]string{"after": tc.after})
		node := map[string]string{"quiet": tc.quiet}
		if !tc.initialized {
			node["starting"] = ""
		}
		s.Change("node", "n1", node)
		w, err := s.World()
		must(t, err)
		x := &search{world: w}
		why := eligibility{search: x, book: hold.Open(w, nil)}.policy(w.Place("n1"))
		if x.plan.Again != tc.again || (tc.again > 0) != (len(why) == 1 && why[0].Code == reason.TooSoon) {
			t.Errorf("quiet for %s s, waits %s s, initialized: %t: held by %v, looked at again at %d, want %d", tc.quiet, tc.after, tc.initialized, why, x.plan.Again, tc.again)
		}
	}
}

func TestLevelsHaveNames(t *testing.T) {
	for name, want := range map[string]bool{"": true, Cautious: true, Normal: true, Eager: true, "bold": false} {
		if IsLevel(name) != want {
			t.Errorf("%q is a level: %t, want %t", name, !want, want)
		}
	}
	if got := AnyLevel(); got != "cautious, normal or eager" {
		t.Errorf("people are told of %s", got)
	}
}

// An option that is not told is the usual, and one below nought is nothing.
func TestChoice(t *testing.T) {
	for v, want := range map[int64]int64{0: 7, 3: 3, -1: 0, 1: 1} {
		if got := choice(v, 7); got != want {
			t.Errorf("of %d it makes %d, want %d", v, got, want)
		}
	}
}

// What a plan tells of prices are prices: charges for nodes are told by themselves.
func TestFiguresOfPlans(t *testing.T) {
	s := enginetest.NewStage()
	for _, line := range []string{
		"type large cpu=4 price=0.20", "type small cpu=2 price=0.10", "pool p charge=0.05",
		"node n1 cpu=4 zone=a pool=p type=large", "node n2 cpu=4 zone=a pool=p type=large", "node own cpu=1 zone=a type=large",
		"pod a cpu=500m node=n1", "pod b x3 cpu=1 node=n2",
	} {
		must(t, s.Scene.Line(line))
	}
	w, err := s.World()
	must(t, err)
	p := Decide(w, nil, Options{})
	if p.Price != 400_000 {
		t.Errorf("all machines of pools cost %d, want 400000", p.Price)
	}
	if len(p.Commands) != 1 || len(p.Kept) != 1 {
		t.Fatalf("%d commands, and %d are kept", len(p.Commands), len(p.Kept))
	}
	c, k := p.Commands[0], p.Kept[0]
	if c.Pods != 1 || c.Saving != 200_000 || c.Charge != 50_000 || c.Effort <= 0 || len(c.Back) != 1 || c.Back[0].Price != 200_000 {
		t.Errorf("the command is %+v", c)
	}
	if k.Claim != "n2" || k.Node != "n2" || k.Price != 200_000 || k.Why == nil {
		t.Errorf("kept is %+v", k)
	}
}
