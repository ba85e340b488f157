package enginetest

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// StageNow is the time of a Stage's World.
const StageNow = 1_000_000

// Stage is a Scene of a cluster in which nodes are to be given back. Nodes of
// pools have joined an hour ago, and pools move pods at once, within any budget,
// unless a line says otherwise.
type Stage struct {
	Scene   *Scene
	changes []change
}

// NewStage returns a Stage with nothing in it.
func NewStage() *Stage { return &Stage{Scene: NewScene()} }

// change is what a line says of one item beside what a scene can.
type change struct {
	kind, name string
	args       map[string]string
}

// Change sets of one item what a scene cannot:
//
//	pool   after=SECONDS, budget=NODES[:REASON], policy=WhenEmpty|Balanced|Never, level=cautious|normal|eager
//	node   quiet=SECONDS, since when nothing came or went; forbid, starting
//	pod    forbid, cost=N
//	guard  allowed=N app=APP
//
// A field of the pool, node or pod that has no word is written as in a Scene: node n1 .created=300.
func (s *Stage) Change(kind, name string, args map[string]string) {
	s.changes = append(s.changes, change{kind, name, args})
}

// World returns what has been built so far.
func (s *Stage) World() (*world.World, error) {
	w := s.Scene.World()
	b := w.Edit()
	if err := settle(w, b); err != nil {
		return nil, err
	}
	w = b.Snapshot(StageNow)
	for _, c := range s.changes {
		if err := c.make(w, b); err != nil {
			return nil, err
		}
		w = b.Snapshot(StageNow)
	}
	return w, nil
}

// settle has pools move pods at once, and nodes of pools be complete.
func settle(w *world.World, b *world.Builder) error {
	for _, p := range w.Pools() {
		pool, after := *p, int64(0)
		pool.Disruption = world.PoolDisruption{EmptyAfter: &after, MoveAfter: &after}
		if err := b.SetPool(pool); err != nil {
			return err
		}
	}
	for _, p := range w.Places() {
		if p.Node == nil || p.Node.Pool.Name == "" {
			continue
		}
		n := *p.Node
		n.Claim = n.Name
		n.Labels = maps.Clone(n.Labels)
		if n.Labels[label.CapacityType] == "" {
			n.Labels[label.CapacityType] = label.OnDemand
		}
		claim := world.Claim{
			Name: n.Name, Node: n.Name, Pool: n.Pool, Template: "t", Launched: true, Registered: true, Initialized: true, InitializedAt: StageNow - 3600,
		}
		if err := cmp.Or(b.SetNode(n), b.SetClaim(claim)); err != nil {
			return err
		}
	}
	return nil
}

// number is an amount as a line writes it; absent is 0.
func number(s string) int { n, _ := strconv.Atoi(s); return n }

// setFields sets the fields of an item that are written by their names.
func (c change) setFields(item any) error {
	for _, key := range slices.Sorted(maps.Keys(c.args)) {
		if name, ok := strings.CutPrefix(key, "."); ok {
			if err := setField(item, name, c.args[key]); err != nil {
				return err
			}
		}
	}
	return nil
}

// make changes one item.
func (c change) make(w *world.World, b *world.Builder) error {
	_, forbid := c.args["forbid"]
	switch c.kind {
	case "pool":
		p := *w.Pool(world.PoolID{Kind: world.NodePool, Name: c.name})
		if s, given := c.args["after"]; given {
			after := int64(number(s))
			p.Disruption.EmptyAfter, p.Disruption.MoveAfter = &after, &after
		}
		if s := c.args["budget"]; s != "" {
			nodes, reason, some := strings.Cut(s, ":")
			budget := world.Budget{Nodes: nodes}
			if some {
				budget.Reasons = []string{reason}
			}
			p.Disruption.Budgets = append(p.Disruption.Budgets, budget)
		}
		p.Disruption.Level = cmp.Or(c.args["level"], p.Disruption.Level)
		switch c.args["policy"] {
		case "WhenEmpty":
			p.Disruption.MoveAfter = nil
		case "Never":
			p.Disruption.EmptyAfter, p.Disruption.MoveAfter = nil, nil
		case "Balanced":
			p.Disruption.Balanced = true
		}
		if err := c.setFields(&p); err != nil {
			return err
		}
		return b.SetPool(p)
	case "node":
		place := w.Place(c.name)
		n, claim := *place.Node, *place.Claim
		n.DoNotDisrupt = forbid
		if s := c.args["quiet"]; s != "" {
			claim.LastPodEvent = StageNow - int64(number(s))
		}
		if _, starting := c.args["starting"]; starting {
			claim.Initialized = false
		}
		if err := c.setFields(&n); err != nil {
			return err
		}
		if err := b.SetNode(n); err != nil {
			return err
		}
		return b.SetClaim(claim)
	case "pod":
		p := *w.Pod(world.Key{Namespace: "default", Name: c.name})
		p.Disruption.Forbidden, p.Disruption.DeletionCost = forbid, int32(number(c.args["cost"]))
		if err := c.setFields(&p); err != nil {
			return err
		}
		return b.SetPod(p)
	}
	return b.SetGuard(world.Guard{
		Key: world.Key{Namespace: "default", Name: c.name}, Allowed: number(c.args["allowed"]),
		Selector: world.Selector{Some: true, Set: label.SetOf(label.Is("app", c.args["app"]))},
	})
}
