package consolidate

import (
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// stageOf is a World told in lines: of a Scene, or, if they begin with a sign of exclamation, what a Stage tells beside.
func stageOf(t *testing.T, lines ...string) *world.World {
	t.Helper()
	s := enginetest.NewStage()
	for _, line := range lines {
		change, is := strings.CutPrefix(line, "!")
		if !is {
			must(t, s.Scene.Line(line))
			continue
		}
		words := strings.Fields(change)
		args := map[string]string{}
		for _, w := range words[2:] {
			k, v, _ := strings.Cut(w, "=")
			args[k] = v
		}
		s.Change(words[0], words[1], args)
	}
	w, err := s.World()
	must(t, err)
	return w
}

// What goes before a command holds it up where both together are more than a pool's budgets or a pod disruption budget
// allow; by itself a command may have more pods of one than go at once, since a drain takes one after the other.
func TestHeldUp(t *testing.T) {
	p := world.PoolID{Kind: world.NodePool, Name: "p"}
	for name, tc := range map[string]struct {
		why        string
		machines   []int
		rooms      int
		gone       int // pods of the guard that go before
		unbudgeted bool
		code       reason.Code
		says       string
	}{
		"Starts":     {"Nothing goes before it.", []int{0}, 3, 0, false, "", ""},
		"Room":       {"There is just room for both.", []int{0, 1}, 2, 0, false, "", ""},
		"NoRoom":     {"There is room for one of the two.", []int{0, 1}, 1, 0, false, reason.Budget, "its budgets let 3 of 3 nodes go at once, and 2 go already or go before it"},
		"Overdrawn":  {"More go already than may.", []int{0}, -1, 0, false, reason.Budget, "its budgets let 3 of 3 nodes go at once, and 3 go already or go before it"},
		"Unbudgeted": {"Budgets are not asked.", []int{0, 1}, 0, 2, true, "", ""},
		"ManyAlone":  {"It alone has as many as go at once, and one more.", []int{1}, 3, 0, false, "", ""},
		"ManyBefore": {"One has gone before it.", []int{1}, 3, 1, false, reason.Guarded, "it lets 1 pod go at once, and other nodes that go before it have 1"},
		"NoneOfIt":   {"It has no pod of the guard, which others have used up.", []int{2}, 3, 2, false, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := stageOf(t, "type large cpu=4 price=0.20", "pool p", "node n1 cpu=4 zone=a pool=p type=large", "node n2 cpu=4 zone=a pool=p type=large", "node n3 cpu=4 zone=a pool=p type=large",
				"pod a cpu=500m app=g node=n1", "pod b x2 cpu=500m app=g node=n2", "pod c cpu=500m node=n3", "!guard g allowed=1 app=g", "!pool p budget=3")
			s := newSearch(w, nil, Options{Unbudgeted: tc.unbudgeted})
			d := draft{machines: tc.machines}
			to := []int{2, 2, 0}
			for _, i := range tc.machines {
				where := make([]int, len(s.cluster.Movable(i)))
				for j := range where {
					where[j] = to[i]
				}
				d.where = append(d.where, where)
			}
			why := s.heldUp(d, map[world.PoolID]int{p: tc.rooms}, map[*world.Guard]int{w.Guards()[0]: tc.gone})
			if (why == nil) != (tc.code == "") || why != nil && (why.Code != tc.code || why.Detail != tc.says) {
				t.Errorf("held up by %v, want %s %q: %s", why, tc.code, tc.says, tc.why)
			}
		})
	}
}

// What is bought is named by its pool, each by another name; and of a machine that is asked about it is told which others refuse its pods.
func TestNamesAndReasons(t *testing.T) {
	w := stageOf(t, "type large cpu=2 memory=8Gi price=0.10", "type xlarge cpu=4 memory=16Gi price=0.20", "pool p",
		"node n1 cpu=4 memory=16Gi zone=a pool=p type=xlarge", "node n2 cpu=4 memory=16Gi zone=a pool=p type=xlarge", "node n3 cpu=2 memory=8Gi zone=a pool=p type=large",
		"pod a cpu=1500m node=n1 apart=host:b apart=host:c", "pod b cpu=1500m node=n2 apart=host:c", "pod c cpu=1500m node=n3", "!pool p budget=9")
	p := Decide(w, nil, Options{Group: 1, Explain: []string{"n3"}})
	var names []string
	for _, c := range p.Commands {
		for _, a := range c.New {
			names = append(names, a.Name)
		}
	}
	if got := strings.Join(names, " "); got != "p-1 p-2" {
		t.Errorf("bought are %q", got)
	}
	for _, k := range p.Kept {
		if (len(k.Why.Causes) > 0) != (k.Node == "n3") {
			t.Errorf("of %s it is told in full: %v", k.Node, k.Why)
		}
	}
	if len(p.Kept) != 1 {
		t.Errorf("%d are kept, want n3", len(p.Kept))
	}
}

// A machine that is restored takes pods again only if it did before, and once.
func TestRestore(t *testing.T) {
	w := stageOf(t, "type large cpu=4 price=0.20", "pool p", "pool q", "node n1 cpu=4 zone=a pool=p type=large", "node n2 cpu=4 zone=a pool=p type=large", "node n3 cpu=4 zone=a pool=q type=large",
		"pod a cpu=500m node=n1", "pod b cpu=500m node=n2", "pod c cpu=500m node=n3", "!pool p after=60", "!node n1 quiet=20")
	s := newSearch(w, nil, Options{})
	s.rank([]int{1, 2})
	for i, name := range []string{"n1", "n2", "n3"} {
		takes := name != "n1" // a pod has come or gone there just now
		before := s.takers.Has(i)
		n := s.takers.Len()
		s.restore(i, &reason.Why{})
		if s.takers.Has(i) != takes || before && s.takers.Len() != n {
			t.Errorf("%s takes pods: %t, want %t; of %d there are %d now", name, s.takers.Has(i), takes, n, s.takers.Len())
		}
	}
}

// The room on a machine is worth something only as far as pods need it that do not find room elsewhere anyway.
func TestWhatRoomIsWorth(t *testing.T) {
	for name, tc := range map[string]struct {
		why   string
		other string // pods on n2, which is kept
		worth bool   // the room on n1
	}{
		"Needed": {"The other node is full.", "pod b x3 cpu=1 node=n2", true},
		"Spare":  {"The other node has room for everything.", "pod b cpu=100m node=n2", false},
	} {
		w := stageOf(t, "type large cpu=4 price=0.20", "pool p", "node n1 cpu=4 zone=a pool=p type=large", "node n2 cpu=4 zone=a pool=p type=large", "pod a cpu=3 node=n1", tc.other, "!node n2 forbid")
		s := newSearch(w, nil, Options{})
		s.weigh()
		if got := s.machines[0].room; (got > 0) != tc.worth {
			t.Errorf("%s: room is worth %v: %s", name, got, tc.why)
		}
	}
}

// What keeps a machine that is being deleted is that, and nothing that its pool has to say; what has been decided about one is not
// told otherwise since waiting pods are to go there.
func TestOneReasonOfSeveral(t *testing.T) {
	w := stageOf(t, "type large cpu=4 price=0.20", "pool p", "pool q", "node n1 cpu=4 zone=a pool=p type=large", "node n2 cpu=4 zone=a pool=q type=large", "pod a cpu=1 node=n1", "pod b cpu=1 node=n2", "pod new cpu=3",
		"!pool p policy=WhenEmpty", "!node n1 .deleting=true", "!pool q policy=WhenEmpty")
	for _, k := range Decide(w, nil, Options{}).Kept {
		want := map[string]reason.Code{"n1": reason.Deleting, "n2": reason.Policy}[k.Node]
		if k.Why.Code != want || len(k.Why.Causes) > 0 {
			t.Errorf("%s is kept: %v, want %s alone", k.Node, k.Why, want)
		}
	}
}
