package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/suppose"
	"github.com/tenon-sh/tenon/engine/world"
)

// Node is the answer about a node or a claim.
type Node struct {
	Machine
	Created string            `json:"created,omitempty"`
	Room    map[string]string `json:"allocatable,omitempty"`
	Used    map[string]string `json:"used,omitempty"`
	Pods    []Resident        `json:"pods"`
	Awaits  []string          `json:"awaits,omitempty"` // waiting pods that are sent here
	Bought  *Bought           `json:"bought,omitempty"` // what was asked for
	Today   *Today            `json:"today,omitempty"`  // what would be bought now for the pods here alone
	Back    Back              `json:"back"`
	Without *Without          `json:"without,omitempty"` // what would happen if it went
	Due     []Due             `json:"due,omitempty"`     // what time brings
	Drift   *Drift            `json:"drift,omitempty"`   // that it is no longer what its pool asks for

	uses []use
}

// Drift says that a node is no longer what its pool asks for, and what comes of it.
type Drift struct {
	Reason string `json:"reason"`
	Change string `json:"change,omitempty"` // what differs
	Next   string `json:"next"`
}

// Resident is a pod of a node.
type Resident struct {
	Pod      string            `json:"pod"`
	Daemon   bool              `json:"daemon,omitempty"` // every such node runs one
	Requests map[string]string `json:"requests,omitempty"`
}

// Bought is what a claim asked the cloud for.
type Bought struct {
	For      map[string]string `json:"for,omitempty"` // requests of the pods it was planned for, and daemons
	Types    int               `json:"types"`         // that were acceptable
	Cheaper  []string          `json:"cheaper"`       // of them, those on sale now for less
	Requires string            `json:"requires,omitempty"`
}

// Today is what would be bought for a node's pods if there were no other node.
type Today struct {
	Nodes     int     `json:"nodes"`
	Price     float64 `json:"pricePerHour"`
	Synthetic bool    `json:"syntheticPrice,omitempty"`
	Type      string  `json:"instanceType,omitempty"` // if it is one node
	Choice    *Choice `json:"choice,omitempty"`
	Misfit    int     `json:"refusedPods,omitempty"`

	capacityType string
}

// Back is whether a node can be given back.
type Back struct {
	Now    bool   `json:"now"`
	Reason string `json:"reason,omitempty"`        // if now
	Holds  []Hold `json:"holds"`                   // if not
	First  bool   `json:"replacedFirst,omitempty"` // what its pods need is bought before it goes
}

// Without is what a plan would make of a node's pods if the node were gone.
type Without struct {
	Pods    int       `json:"pods"`
	Stay    int       `json:"onOtherNodes"` // that fit on nodes which are there
	Others  []string  `json:"nodes,omitempty"`
	Buys    []Machine `json:"buys,omitempty"`
	Refused []string  `json:"refused,omitempty"`
	Saves   float64   `json:"savesPerHour"`
}

// Due is something that time brings.
type Due struct {
	What string `json:"what"`
	At   string `json:"at"`
}

// Node answers about a node or claim; false if there is none of that name.
func (e *Explainer) Node(name string) (Node, bool) {
	p := e.find(name)
	if p == nil {
		return Node{}, false
	}
	n := Node{Machine: e.machine(p), Used: p.Used.Map(), Pods: []Resident{}, uses: usesOf(p)}
	if p.Node != nil {
		n.Created, n.Room = moment(p.Node.Created), p.Node.Allocatable.Map()
	} else {
		n.Created, n.Room = moment(p.Claim.Created), p.Claim.Allocatable.Map()
	}
	for _, pod := range p.Pods {
		n.Pods = append(n.Pods, Resident{Pod: pod.String(), Daemon: pod.DaemonSet != "" || pod.Static, Requests: pod.Requests.Map()})
	}
	for _, f := range slices.Concat(e.plan().Filled, e.plan().Held) {
		if f.Node != "" && f.Node == n.Node || f.Claim != "" && f.Claim == n.Claim {
			for _, k := range f.Pods {
				n.Awaits = append(n.Awaits, k.String())
			}
		}
	}
	if p.Claim != nil {
		n.Bought = e.bought(p)
	}
	n.Drift = e.drift(p)
	e.returning(&n, p)
	if !p.Deleting() && slices.ContainsFunc(p.Pods, hold.Stays) {
		n.Today, n.Without = e.today(p), e.without(p)
	}
	return n, true
}

// returning says whether a machine can be given back now, and what is due when.
func (e *Explainer) returning(n *Node, p *world.Place) {
	n.Back.Holds = []Hold{}
	if why := e.idle()[n.Claim]; n.Claim != "" && why != "" {
		n.Back.Now, n.Back.Reason = true, why
		n.Back.First = why == plan.Expired && disrupt.Replaced(e.world, p)
	}
	if !n.Back.Now {
		n.Back.Holds = e.kept(p, slices.Concat(e.book().Empty(p), e.lingering(p)))
		e.moving(p, n.Back.Holds)
	}
	for _, h := range n.Back.Holds {
		if h.Until != "" {
			n.Due = append(n.Due, Due{h.ends(), h.Until})
		}
	}
	if c := p.Claim; c != nil && c.ExpireAfter > 0 && !p.Deleting() {
		n.Due = append(n.Due, Due{"it expires", moment(c.Created + c.ExpireAfter)})
	}
	slices.SortFunc(n.Due, func(a, b Due) int { return strings.Compare(a.At, b.At) })
}

// lingering is what keeps pods on a machine that goes: budgets and annotations, and that some take their time to end.
func (e *Explainer) lingering(p *world.Place) (out []hold.Hold) {
	for _, pod := range p.Pods {
		if !p.Deleting() || pod.DaemonSet != "" || pod.Static {
			continue
		}
		if pod.Terminating {
			out = append(out, hold.Hold{Code: reason.Deleting, Pod: pod})
		} else if h, held := hold.Keeps(e.world, pod); held && h.Code != reason.Alone {
			out = append(out, h)
		}
	}
	return out
}

// bought reads from a claim what it asked for.
func (e *Explainer) bought(p *world.Place) *Bought {
	b := &Bought{For: p.Claim.Requests.Map(), Cheaper: []string{}}
	menu, listed := p.Claim.Requirements.Find(label.InstanceType)
	if listed && !menu.Not {
		b.Types = len(menu.Values)
	}
	b.Requires = p.Claim.Requirements.Without(label.InstanceType).String()
	c := e.world.CatalogFor(p.Claim.Pool, p.Claim.Template)
	price := plan.PriceOf(e.world, p)
	if c == nil || !listed || price == 0 {
		return b
	}
	for i := range c.Shapes {
		s := &c.Shapes[i]
		if !menu.Has(s.Name) || s.Name == p.Labels()[label.InstanceType] {
			continue
		}
		if slices.ContainsFunc(s.Offers, func(o world.Offer) bool {
			return !o.Gone && o.Price < price && o.Zone == p.Labels()[label.Zone] && o.CapacityType == p.Labels()[label.CapacityType]
		}) {
			b.Cheaper = append(b.Cheaper, s.Name)
		}
	}
	return b
}

// today decides about the pods of a machine as if they were all there is.
func (e *Explainer) today(p *world.Place) *Today {
	gone, err := suppose.Alone(e.world, p)
	if err != nil {
		return nil
	}
	d := provision.Decide(gone, e.options)
	t := &Today{Nodes: len(d.New), Price: d.Cost.Units(), Misfit: len(d.Refused)}
	t.Synthetic = slices.ContainsFunc(d.New, func(a plan.Ask) bool { return a.Synthetic })
	if len(d.New) == 1 {
		t.Type, t.Choice, t.capacityType = d.New[0].Shape, e.choice(d.New[0]), d.New[0].CapacityType
	}
	return t
}

// without decides as if a machine were gone, and reports what becomes of its pods.
func (e *Explainer) without(p *world.Place) *Without {
	gone, err := suppose.Apply(e.world, suppose.WithoutNode(p.Name()))
	if err != nil {
		return nil
	}
	ours := map[world.Key]bool{}
	for _, pod := range p.Pods {
		ours[pod.Key] = true
	}
	count := func(keys []world.Key) (n int) {
		for _, k := range keys {
			if ours[k] {
				n++
			}
		}
		return n
	}
	d := provision.Decide(gone, e.options)
	out := &Without{}
	for _, f := range d.Filled {
		if n := count(f.Pods); n > 0 {
			out.Stay += n
			out.Others = append(out.Others, cmp.Or(f.Node, f.Claim))
		}
	}
	out.Pods = out.Stay
	for _, a := range d.New {
		if n := count(a.Pods); n > 0 {
			out.Pods += n
			out.Buys = append(out.Buys, e.planned(a))
		}
	}
	for _, r := range d.Refused {
		if ours[r.Pod] {
			out.Refused = append(out.Refused, r.Pod.String())
		}
	}
	out.Pods += len(out.Refused)
	out.Saves = (plan.PriceOf(e.world, p) - (d.Cost - e.plan().Cost)).Units()
	return out
}

// awaited names what was bought for the pods of a machine that is to go and is not complete; empty if there is no such.
func (e *Explainer) awaited(p *world.Place) string {
	var names []string
	for _, c := range begun.In(e.world).Commands {
		if !slices.Contains(c.Back, p) {
			continue
		}
		for _, n := range c.New {
			if !n.Whole() {
				names = append(names, n.Name())
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; bought for them and not complete yet: " + strings.Join(names, ", ")
}

// drift says what comes of a machine's having drifted; nil if it has not.
func (e *Explainer) drift(p *world.Place) *Drift {
	if p.Claim == nil || p.Claim.Drifted == "" {
		return nil
	}
	d := &Drift{Reason: p.Claim.Drifted, Change: p.Claim.Change}
	pool := e.world.Pool(p.Pool())
	switch {
	case p.Deleting():
		d.Next = "it is going already"
		return d
	case begun.Intended(p):
		d.Next = "it goes once its pods have places elsewhere" + e.awaited(p)
		return d
	case pool == nil || pool.ID.Kind != world.NodePool:
		d.Next = "nodes of its pool are not replaced for that"
		return d
	}
	o := e.leave(disrupt.Replacing)
	o.AsIs = false // what is too old is replaced before it
	next := disrupt.Decide(e.world, o).Of(p.Name())
	d.Next = "others are replaced before it"
	if r := begun.In(e.world).Replicas(e.world)[pool.ID]; pool.Replicas != nil && r.Missing(pool)+r.Surplus(pool) > 0 {
		d.Next = "its pool first comes to its number of nodes"
	}
	if len(next.Commands) > 0 {
		d.Next = "it is to be replaced; if that came to nothing before, it is tried again after 5 minutes, and later after up to an hour"
	}
	for _, k := range next.Kept {
		d.Next = "it stays: " + k.Why.Said()
	}
	return d
}
