// Package corpus is a fixed set of Worlds whose plans are kept, so that a change which is to change no plan can show that it changes none.
package corpus

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/suppose"
	"github.com/tenon-sh/tenon/engine/whatif"
	"github.com/tenon-sh/tenon/engine/world"
)

// Entry is one World and how it is decided about.
type Entry struct {
	Name    string // what made it, with the seed
	World   *world.World
	Options provision.Options
	Carried bool // it is a cluster already; otherwise one is made of it by carrying out its plan and ending some pods
}

// searchSteps bounds the search, so that a hundred worlds take a second.
const searchSteps = 20_000

// Generated are the Worlds that generators make from fixed seeds: many small ones, and some larger ones of every kind.
func Generated(small int) []Entry {
	var out []Entry
	for seed := range small {
		s := enginetest.NewScene()
		for _, line := range enginetest.Lines().Example(seed) {
			if err := s.Line(line); err != nil {
				panic(err) // the generator writes what a scene reads
			}
		}
		o := provision.Options{Steps: searchSteps, ExactOnly: seed%5 == 4, Nominated: seed%3 == 1}
		out = append(out, Entry{Name: fmt.Sprintf("lines-%d", seed), World: s.World(), Options: o})
	}
	o := provision.Options{Steps: searchSteps}
	return append(out,
		Entry{Name: "diverse-200", World: enginetest.Diverse(200), Options: o},
		Entry{Name: "apps-200", World: enginetest.Apps(200), Options: o},
		Entry{Name: "apps-100-exact", World: enginetest.Apps(100), Options: provision.Options{ExactOnly: true}},
		Entry{Name: "tangled-150", World: enginetest.Tangled(150), Options: o},
		Entry{Name: "tangled-300-nominated", World: enginetest.Tangled(300), Options: provision.Options{Steps: searchSteps, Nominated: true}},
		Entry{Name: "wishful-200", World: enginetest.Wishful(200), Options: o},
		Entry{Name: "limited-200", World: enginetest.Limited(200), Options: o},
		Entry{Name: "chain-200", World: enginetest.Chain(200), Options: o},
		Entry{Name: "tenants-20-100", World: enginetest.Tenants(20, 100), Options: o},
		Entry{Name: "hopeless-50", World: enginetest.Hopeless(50), Options: o},
		Entry{Name: "steady-20-200", World: enginetest.Steady(20, 200), Options: o, Carried: true},
		Entry{Name: "shrunk-300-1", World: enginetest.Shrunk(300, 1), Options: o, Carried: true},
		Entry{Name: "shrunk-600-2", World: enginetest.Shrunk(600, 2), Options: o, Carried: true},
	)
}

// Record is what is kept of one World's plans.
type Record struct {
	Name  string
	Nodes int         // that are asked for
	Cost  money.Micro // of these, millionths an hour
	Saved money.Micro // by consolidating, millionths an hour
	Plans string      // a digest of each plan, by what was decided
}

// String writes the record as a line.
func (r Record) String() string {
	return fmt.Sprintf("%s nodes=%d cost=%d saved=%d %s", r.Name, r.Nodes, r.Cost, r.Saved, r.Plans)
}

// Decide makes all plans for the World.
func (e Entry) Decide() Record {
	p := provision.Decide(e.World, e.Options)
	r := Record{Name: e.Name, Nodes: len(p.New), Cost: p.Cost}
	p.Steps, p.World = 0, "" // how much work it was may change, and what is known of items beside
	plans := []string{"provision:" + digest(p)}
	cluster := e.World
	if !e.Carried {
		cluster = shrink(enginetest.Bound(e.World, p))
	}
	if len(cluster.Places()) > 0 {
		c := disrupt.Decide(cluster, disrupt.Options{
			Pack: e.Options, Only: []disrupt.Part{disrupt.Idling, disrupt.Consolidating}, AsIs: true, Consolidate: consolidate.Options{MoveCost: 1000, LeastSaving: 1000},
		})
		r.Saved = c.Possible()
		back := disrupt.Decide(drifted(cluster), disrupt.Options{Pack: e.Options, Only: []disrupt.Part{disrupt.Replacing}})
		plans = append(plans, "consolidate:"+digest(cheaper(c)...), "drift:"+digest(replaced(back)...), "whatif:"+digest(e.without(cluster)...))
	}
	r.Plans = strings.Join(plans, " ")
	return r
}

// cheaper is what was decided about making a cluster cheaper, whatever form it has.
func cheaper(p plan.Plan) []any {
	again := p.Again
	if slices.ContainsFunc(p.Commands, func(c plan.Command) bool { return c.Why != heldUp(c) }) {
		again = 0 // it is looked again as soon as that is over
	}
	out := []any{p.Price, p.Least, again}
	var going []plan.Give
	for _, c := range p.Commands {
		if c.Idle() {
			going = append(going, c.Back...)
		}
	}
	out = append(out, gone(going))
	for _, c := range p.Commands {
		if !c.Idle() {
			out = append(out, gone(c.Back), c.New, c.Moves, c.Pods, c.Saving, c.Effort, heldUp(c))
		}
	}
	for _, k := range p.Kept {
		if k.Reason == plan.Underutilized {
			out = append(out, k.Claim, k.Why)
		}
	}
	return out
}

// heldUp is what has a command wait, but for that something has only just come to its machines: the machines of these
// worlds are all new.
func heldUp(c plan.Command) *reason.Why {
	if c.Why != nil && c.Why.Code == reason.TooSoon {
		return nil
	}
	return c.Why
}

// replaced is which machine is replaced next, by what, and why none before it.
func replaced(p plan.Plan) []any {
	var back []plan.Give
	var asks []plan.Ask
	for _, c := range p.Commands {
		if heldUp(c) == nil {
			back, asks = append(back, c.Back...), append(asks, c.New...)
		}
	}
	return []any{gone(back), asks, whys(p.Kept)}
}

// gone are machines that are given back.
func gone(back []plan.Give) []any {
	var out []any
	for _, g := range back {
		out = append(out, g.Claim, g.Node, g.Reason, g.Price)
	}
	return out
}

// shrink has pools move pods at once and ends about every third pod.
func shrink(w *world.World) *world.World {
	b := w.Edit()
	now := int64(0)
	for _, p := range w.Pools() {
		p := *p
		p.Disruption = world.PoolDisruption{EmptyAfter: &now, MoveAfter: &now}
		must(b.SetPool(p))
	}
	for _, p := range w.Pods() {
		h := fnv.New32a()
		h.Write([]byte(p.Key.String()))
		if h.Sum32()%3 == 0 {
			b.DeletePod(p.Key)
		}
	}
	return b.Snapshot(w.At())
}

// drifted is the World in which every claim has drifted.
func drifted(w *world.World) *world.World {
	b := w.Edit()
	for _, p := range w.Places() {
		if p.Claim != nil {
			c := *p.Claim
			c.Drifted = "NodeClassDrifted"
			must(b.SetClaim(c))
		}
	}
	return b.Snapshot(w.At())
}

// nodesSupposedGone is how many nodes of a World are supposed to be gone, one at a time.
const nodesSupposedGone = 2

// without is what would be bought if a node were gone, for the first nodes, and for which machines' pods there is room elsewhere.
func (e Entry) without(w *world.World) []any {
	var out []any
	cluster := whatif.New(w, e.Options, whatif.Staying)
	goes := map[string]bool{}
	for i, p := range cluster.Places() {
		goes[p.Name()] = cluster.Goes(i)
	}
	for i, p := range w.Places() {
		out = append(out, goes[p.Name()])
		if i >= nodesSupposedGone {
			continue
		}
		gone, err := suppose.Apply(w, suppose.WithoutNode(p.Name()))
		must(err)
		p := provision.Decide(gone, e.Options)
		p.Steps, p.World = 0, ""
		out = append(out, p)
	}
	return out
}

func whys(kept []plan.Kept) []string {
	out := make([]string, len(kept))
	for i, k := range kept {
		out[i] = cmp.Or(k.Node, k.Claim) + " " + k.Why.String()
	}
	return out
}

// digest is a short text that differs if the values do.
func digest(values ...any) string {
	h := sha256.New()
	must(json.NewEncoder(h).Encode(values))
	return hex.EncodeToString(h.Sum(nil)[:4])
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
