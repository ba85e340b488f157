package static_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/static"
	"github.com/tenon-sh/tenon/engine/world"
)

const now = 1_000_000

// told is a World of lines, whose machines have claims that say what changes has for them.
func told(t rapid.TB, lines string, changes map[string]func(*world.Claim), more ...func(*world.Builder) error) *world.World {
	t.Helper()
	s := enginetest.NewScene()
	for line := range strings.SplitSeq(lines, "\n") {
		if err := s.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	b := s.World().Edit()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range s.World().Places() {
		n := *p.Node
		n.Claim = n.Name
		c := world.Claim{
			Name: n.Name, Node: n.Name, Pool: n.Pool, Template: "t", ProviderID: n.Name, Launched: true, Registered: true, Initialized: true,
			Created: now - 3600, InitializedAt: now - 3600,
		}
		if change := changes[n.Name]; change != nil {
			change(&c)
		}
		if c.Going != "" {
			n.Taints = append(n.Taints, begun.Mark())
		}
		must(b.SetClaim(c))
		if c.ProviderID == "" {
			b.DeleteNode(n.Name)
			continue
		}
		must(b.SetNode(n))
	}
	for _, change := range more {
		must(change(b))
	}
	return b.Snapshot(now)
}

// The changes of a claim.
func deleting(c *world.Claim) { c.Deleting = true }

func unlaunched(c *world.Claim) {
	c.ProviderID, c.Node, c.Launched, c.Registered, c.Initialized = "", "", false, false, false
}
func drifted(c *world.Claim) { c.Drifted = "NodePoolDrifted" }
func going(c *world.Claim)   { c.Drifted, c.Going = "NodePoolDrifted", plan.Drifted }
func instead(of ...string) func(*world.Claim) {
	return func(c *world.Claim) { c.Replaces = of }
}

func bare(of ...string) func(*world.Claim) {
	return func(c *world.Claim) { unlaunched(c); c.Replaces = of }
}

// forbid has pods forbid that they are moved.
func forbid(names ...string) func(*world.Builder) error {
	return func(b *world.Builder) error {
		for _, name := range names {
			p := *b.Snapshot(now).Pod(world.Key{Namespace: "default", Name: name})
			p.Disruption.Forbidden = true
			if err := b.SetPod(p); err != nil {
				return err
			}
		}
		return nil
	}
}

// types are what is sold.
const types = "type small cpu=2 memory=4Gi price=0.10 zones=a\ntype large cpu=8 memory=16Gi price=0.20 zones=a\n"

// nodes are the lines of nodes of pool p.
func nodes(names string) string {
	out := ""
	for name := range strings.FieldsSeq(names) {
		out += "\nnode " + name + " cpu=2 memory=4Gi zone=a pool=p type=small ct=on-demand"
	}
	return out
}

type changes = map[string]func(*world.Claim)

func TestDecide(t *testing.T) {
	for name, tc := range map[string]struct {
		why    string
		lines  string
		claims changes
		more   []func(*world.Builder) error
		want   string
	}{
		"Up":        {why: "Two are missing.", lines: "pool p replicas=3" + nodes("a"), want: "1 of 3; + small small"},
		"Kept":      {why: "There are enough.", lines: "pool p replicas=1" + nodes("a"), want: "1 of 1"},
		"Going":     {why: "One that is being deleted is replaced at once.", lines: "pool p replicas=1" + nodes("a"), claims: changes{"a": deleting}, want: "0 of 1; + small"},
		"Limit":     {why: "One that is being deleted counts against the limit.", lines: "pool p replicas=3 limit=nodes:2" + nodes("a"), claims: changes{"a": deleting}, want: "0 of 3; + small; 2 limit"},
		"NotReady":  {why: "Nothing can be bought of it now.", lines: "pool p replicas=3 not-ready=broken", want: "0 of 3; 3 not-ready"},
		"SoldOut":   {why: "Nothing that it allows is to be had.", lines: "pool p replicas=2 require=zone:b", want: "0 of 2; 2 no-offer"},
		"MinValues": {why: "Nor is what would not be flexible enough.", lines: "pool p replicas=2 require=type:Exists:/3", want: "0 of 2; 2 min-values"},
		"Deleted": {why: "A pool that is deleted takes its nodes along.", lines: "pool p replicas=3" + nodes("a"), more: []func(*world.Builder) error{func(b *world.Builder) error {
			p := *b.Snapshot(now).Pools()[0]
			p.Deleting = true
			return b.SetPool(p)
		}}, want: ""},
		"Dynamic":   {why: "Its nodes follow the pods.", lines: "pool p" + nodes("a"), want: ""},
		"Zero":      {why: "All go.", lines: "pool p replicas=0" + nodes("a b"), want: "2 of 0; - a b"},
		"Unready":   {why: "A pool that buys nothing gives back.", lines: "pool p replicas=0 not-ready=broken" + nodes("a"), want: "1 of 0; - a"},
		"Reserved":  {why: "What one pool takes of a reservation another cannot have.", lines: "type r cpu=2 memory=4Gi reserved=x:1\npool p replicas=1 require=ct:reserved\npool q replicas=1 require=ct:reserved", want: "0 of 1; + r | 0 of 1; 1 no-offer"},
		"Empty":     {why: "Empty ones go first.", lines: "pool p replicas=1" + nodes("a b c") + "\npod x cpu=1 node=a\npod y cpu=1 node=c", want: "3 of 1; - b a"},
		"Cheapest":  {why: "Then those with the least to move.", lines: "pool p replicas=1" + nodes("a b") + "\npod x x2 cpu=100m node=a\npod y cpu=1 node=b", want: "2 of 1; - b"},
		"Protected": {why: "What forbids that it is moved goes last.", lines: "pool p replicas=1" + nodes("a b") + "\npod x cpu=100m node=a\npod y x2 cpu=100m node=b", more: []func(*world.Builder) error{forbid("x")}, want: "2 of 1; - b"},
		"AllGo":     {why: "But it goes: the pool is to have none.", lines: "pool p replicas=0" + nodes("a") + "\npod x cpu=100m node=a", more: []func(*world.Builder) error{forbid("x")}, want: "1 of 0; - a"},
		"Leaves": {why: "What forbids it and ends already forbids nothing.", lines: "pool p replicas=1" + nodes("a b") + "\npod x cpu=100m node=a\npod y x2 cpu=100m node=b", more: []func(*world.Builder) error{forbid("x"), func(b *world.Builder) error {
			p := *b.Snapshot(now).Pod(world.Key{Namespace: "default", Name: "x"})
			p.Terminating = true
			return b.SetPod(p)
		}}, want: "2 of 1; - a"},
		"Oldest": {why: "Of equals the oldest goes.", lines: "pool p replicas=1" + nodes("a b"), claims: changes{"b": func(c *world.Claim) { c.Created-- }}, want: "2 of 1; - b"},
		"Young":  {why: "What is not launched yet goes before all others.", lines: "pool p replicas=1" + nodes("a b"), claims: changes{"b": unlaunched}, want: "2 of 1; - b"},
		"Aged": {why: "Pods of a node that expires soon would have to move anyway.", lines: "pool p replicas=1" + nodes("a b") + "\npod x cpu=100m node=a\npod y x2 cpu=100m node=b", claims: changes{"b": func(c *world.Claim) {
			c.ExpireAfter = 4000
		}}, want: "2 of 1; - b"},
		"Drifted":   {why: "Of equals one that has drifted goes: it would have to be replaced.", lines: "pool p replicas=1" + nodes("a b"), claims: changes{"b": drifted}, want: "2 of 1; - b"},
		"Replacing": {why: "While one is replaced there is one more, which is not too many.", lines: "pool p replicas=2" + nodes("a b c"), claims: changes{"a": going, "c": instead("a")}, want: "2 of 2 and 1"},
		"Marked":    {why: "Before it has been bought there are enough.", lines: "pool p replicas=2" + nodes("a b"), claims: changes{"a": going}, want: "1 of 2 and 1"},
		"Replaced":  {why: "Once the old one is being deleted, the new one is its like.", lines: "pool p replicas=2" + nodes("a b c"), claims: changes{"a": deleting, "c": instead("a")}, want: "2 of 2"},
		"Fewer":     {why: "When there are to be fewer meanwhile, what was bought and is not launched yet goes first.", lines: "pool p replicas=1" + nodes("a b c"), claims: changes{"a": going, "c": bare("a")}, want: "2 of 1 and 1; - c"},
		"Stray":     {why: "What was bought for a node that stays is given back by the decision about disruption, and counts for nothing here.", lines: "pool p replicas=2" + nodes("a b c"), claims: changes{"c": instead("a")}, want: "2 of 2"},
		"Others":    {why: "Pools are told of by name.", lines: "pool q replicas=1\npool p replicas=1", want: "0 of 1; + small | 0 of 1; + small"},
		"BackOff": {why: "After failures it waits.", lines: "pool p replicas=1", more: []func(*world.Builder) error{func(b *world.Builder) error {
			return b.SetBackoff(world.Backoff{BackoffID: world.BackoffID{Pool: world.PoolID{Kind: world.NodePool, Name: "p"}, Template: "t"}, Times: 3, Last: now - 1, Why: "it did not join"})
		}}, want: "0 of 1; 1 back-off; again"},
	} {
		t.Run(name, func(t *testing.T) {
			w := told(t, types+tc.lines, tc.claims, tc.more...)
			p := static.Decide(w, static.Options{})
			if diff := cmp.Diff(tc.want, text(p)); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
			if again := static.Decide(w, static.Options{}); again.String() != p.String() {
				t.Errorf("decided again it is\n%s, and was\n%s", again, p)
			}
			for _, s := range p.Static {
				if !strings.Contains(p.String(), s.String()) || s.Why != nil && !strings.Contains(p.String(), s.Why.String()) {
					t.Errorf("the text does not tell of %v:\n%s", s, p)
				}
			}
		})
	}
}

// text is what a plan says of each pool.
func text(p plan.Plan) string {
	var out []string
	for _, s := range p.Static {
		line := fmt.Sprintf("%d of %d", s.Here-s.Replacing, s.Replicas)
		if s.Replacing > 0 {
			line += fmt.Sprintf(" and %d", s.Replacing)
		}
		if s.New > 0 {
			line += "; +"
		}
		for _, a := range p.New {
			if a.Pool == s.Pool {
				line += " " + a.Shape
			}
		}
		if s.Back > 0 {
			line += "; -"
		}
		for _, g := range p.Back() {
			if g.Pool == s.Pool && g.Reason == plan.ScaledDown {
				line += " " + g.Claim
			}
		}
		if s.Why != nil {
			line += fmt.Sprintf("; %d %s", s.Missing, s.Why.Code)
		}
		if s.Why.Has(reason.BackOff) && p.Again > 0 {
			line += "; again"
		}
		out = append(out, line)
	}
	return strings.Join(out, " | ")
}

// Of two machines with equal pods the one goes that is nearer to its age, though its name comes later.
func TestNearestToItsAgeGoes(t *testing.T) {
	age := func(seconds int64) func(*world.Claim) { return func(c *world.Claim) { c.ExpireAfter = seconds } }
	w := told(t, "type small cpu=4 memory=8Gi price=0.1\npool fixed replicas=1\nnode n1 cpu=4 pool=fixed type=small\nnode n2 cpu=4 pool=fixed type=small\npod a cpu=1 node=n1\npod b cpu=1 node=n2",
		map[string]func(*world.Claim){"n1": age(7200), "n2": age(3700)})
	p := static.Decide(w, static.Options{})
	if len(p.Commands) != 1 || p.Commands[0].Back[0].Node != "n2" {
		t.Errorf("n2 does not go:\n%s", p)
	}
}

// A plan says what it costs, and in which currency.
func TestCost(t *testing.T) {
	w := told(t, "type small cpu=4 memory=8Gi price=0.1\npool fixed replicas=2", nil)
	p := static.Decide(w, static.Options{})
	if len(p.New) != 2 || p.Cost != p.New[0].Price+p.New[1].Price || p.Cost <= 0 {
		t.Errorf("%d machines cost %d", len(p.New), p.Cost)
	}
	if want := "EUR"; p.Currency != "" {
		t.Errorf("the currency is %q where none is said", p.Currency)
	} else if p = static.Decide(told(t, "type small cpu=4 memory=8Gi price=0.1\npool fixed replicas=2", nil, func(b *world.Builder) error {
		c := *w.Catalogs()[0]
		c.Currency = want
		return b.SetCatalog(c)
	}), static.Options{}); p.Currency != want {
		t.Errorf("the currency is %q, want %q", p.Currency, want)
	}
	if p := static.Decide(world.NewBuilder().Snapshot(now), static.Options{}); len(p.Static) > 0 || p.Currency != "" {
		t.Errorf("of nothing it is said %+v", p)
	}
}

// Where several pools wait it is decided again when the first of them may buy, if that is not now.
func TestAgainIsTheFirst(t *testing.T) {
	failed := func(name string, times int, last int64) func(*world.Builder) error {
		return func(b *world.Builder) error {
			return b.SetBackoff(world.Backoff{BackoffID: world.BackoffID{Pool: world.PoolID{Kind: world.NodePool, Name: name}, Template: "t"}, Times: times, Last: last, Why: "it did not join"})
		}
	}
	const lines = types + "pool p replicas=1\npool q replicas=1\npool r replicas=1"
	for name, tc := range map[string]struct {
		why  string
		more []func(*world.Builder) error
		want int64
	}{
		"First":  {"The second pool may buy first.", []func(*world.Builder) error{failed("p", 4, now), failed("q", 2, now), failed("r", 3, now)}, now + 10},
		"None":   {"None failed.", nil, 0},
		"Over":   {"Its wait is over: it is bought.", []func(*world.Builder) error{failed("p", 2, now-10)}, 0},
		"Second": {"It has a second left.", []func(*world.Builder) error{failed("p", 2, now-9)}, now + 1},
		"Broken": {"What is not to be had for another reason is not waited for, though it failed before.", []func(*world.Builder) error{failed("p", 2, now-100), failed("q", 3, now), func(b *world.Builder) error {
			p := *b.Snapshot(now).Pool(world.PoolID{Kind: world.NodePool, Name: "p"})
			p.NotReady = "broken"
			return b.SetPool(p)
		}}, now + 20},
	} {
		t.Run(name, func(t *testing.T) {
			if p := static.Decide(told(t, lines, nil, tc.more...), static.Options{}); p.Again != tc.want {
				t.Errorf("%s It is decided again at %d, want %d:\n%s", tc.why, p.Again, tc.want, p)
			}
		})
	}
}
