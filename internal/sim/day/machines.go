package day

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/driver"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// steps bounds each decision's work: a day has thousands of them.
const steps = 200_000

// plan decides about the waiting pods and buys what is asked for.
func (d *day) plan() {
	d.planned = false
	d.stock()
	w := d.builder.Snapshot(d.now)
	p := provision.Decide(w, provision.Options{Steps: steps})
	d.report.Decisions++
	d.verdicts(w, p)
	for _, a := range p.New {
		d.buy(a)
	}
	d.once(p)
	if len(p.Refused) > 0 {
		// Sold out or over a limit: look again later.
		if !d.planned {
			d.planned = true
			d.by(d.now+60, d.plan)
		}
	}
}

// verdicts checks that every waiting pod is spoken of, once.
func (d *day) verdicts(w *world.World, p plan.Plan) {
	spoken := map[world.Key]int{}
	for _, a := range p.New {
		for _, k := range a.Pods {
			spoken[k]++
		}
	}
	for _, f := range slices.Concat(p.Filled, p.Held) {
		for _, k := range f.Pods {
			spoken[k]++
		}
	}
	for _, r := range p.Refused {
		spoken[r.Pod]++
	}
	for _, q := range w.Waiting() {
		if spoken[q.Key] != 1 {
			d.problem("pod %s has %d verdicts", q.Key, spoken[q.Key])
		}
	}
}

// buy makes a claim of an ask and has its machine launched. It may be for pods of others, which go then.
func (d *day) buy(a plan.Ask, replaces ...string) {
	d.serial++
	c := world.Claim{
		Name: fmt.Sprintf("%s-%06d", a.Pool.Name, d.serial), Created: d.now, Pool: a.Pool, Template: a.Template, Labels: a.Labels,
		Requirements: a.Requirements, Requests: a.Requests, Taints: a.Taints, Booked: a.Booked, Pods: a.Pods, Replaces: replaces,
	}
	c.UID = c.Name
	if after := d.objects[a.Pool].Disruption.ExpireAfter; after != nil {
		c.ExpireAfter = *after
	}
	menu := make([]string, len(a.Menu))
	for i, m := range a.Menu {
		menu[i] = m.Shape
	}
	d.write()
	d.menus[c.Name] = menu
	d.setClaim(c)
	d.launch(c.Name)
}

// launch buys the machine of a claim, under the claim's name however often it is tried.
func (d *day) launch(name string) {
	c, ok := d.claims[name]
	if !ok || c.Launched || c.Deleting {
		return
	}
	d.write()
	out := d.driver.Launch(context.Background(), []cloud.Order{{
		Token: c.Name, Template: cloud.Template{ID: c.Template}, Pool: c.Pool, Count: 1, Requirements: c.Requirements, Menu: d.menus[name], Requests: c.Requests,
	}})[0]
	if errors.Is(out.Err, errFault) {
		d.by(d.now+10, func() { d.launch(name) })
		return
	}
	d.write()
	if out.Err != nil || len(out.Machines) != 1 {
		if cloud.CodeOf(out.Err) != cloud.Capacity {
			d.problem("launch: %d machines, %v", len(out.Machines), out.Err)
		}
		d.report.Failed++
		d.dropClaim(c.Name)
		d.arrived()
		return
	}
	d.launched(&c, out.Machines[0])
	d.report.Bought++
}

// launched notes on a claim what machine it has.
func (d *day) launched(c *world.Claim, m cloud.Machine) {
	c.Launched, c.ProviderID, c.Capacity, c.Allocatable = true, m.ProviderID, m.Capacity, m.Allocatable
	edition, edited := c.Labels[labelEdition]
	c.Labels = maps.Clone(m.Labels)
	if edited {
		c.Labels[labelEdition] = edition
	}
	if c.Pool.Kind == world.Provisioner {
		c.Labels[label.Provisioner] = c.Pool.Name
	} else {
		c.Labels[label.NodePool] = c.Pool.Name
	}
	d.setClaim(*c)
}

func (d *day) setClaim(c world.Claim) {
	d.claims[c.Name] = c
	d.must(d.builder.SetClaim(c))
}

func (d *day) dropClaim(name string) {
	delete(d.claims, name)
	delete(d.menus, name)
	delete(d.leaving, name)
	d.builder.DeleteClaim(name)
}

func (d *day) claimOf(provider string) (world.Claim, bool) {
	for _, c := range d.claims {
		if c.ProviderID == provider {
			return c, true
		}
	}
	return world.Claim{}, false
}

// joined makes a node of a machine that has booted.
func (d *day) joined(i market.Instance) {
	c, ok := d.claimOf(driver.ProviderID(i))
	if !ok || c.Deleting || c.Node != "" || d.life.lame[i.ID] {
		return
	}
	if d.life.down {
		return // it is looked at again later
	}
	if at, err := d.market.Find([]string{i.ID}); err != nil || at[0].State != market.Running {
		return
	}
	n := world.Node{
		Name: i.DNS, ProviderID: c.ProviderID, Created: d.now, Labels: maps.Clone(c.Labels), Ready: true, Claim: c.Name, Pool: c.Pool,
		Capacity: c.Capacity, Allocatable: c.Allocatable, Taints: c.Taints,
	}
	d.write()
	n.Labels[label.Hostname] = n.Name
	d.nodes[n.Name] = n
	d.must(d.builder.SetNode(n))
	c.Registered, c.Initialized, c.InitializedAt, c.Node = true, true, d.now, n.Name
	d.setClaim(c)
	d.report.PeakNodes = max(d.report.PeakNodes, len(d.nodes))
	d.arrived()
	d.again()
}

// ended takes a machine that is gone out of the cluster. One that no decision gave
// back takes its pods with it.
func (d *day) ended(i market.Instance) {
	taken := d.taken[i.ID]
	delete(d.taken, i.ID)
	delete(d.life.lame, i.ID)
	c, ok := d.claimOf(driver.ProviderID(i))
	if !ok {
		return
	}
	if taken && !c.Deleting {
		d.problem("machine %s was taken back as announced, and its pods were not drained", i.ID)
	}
	d.report.Spent += d.price(i).Part(d.now-c.Created, 3600)
	if c.Node != "" {
		d.evict(c.Node, !c.Deleting)
		delete(d.nodes, c.Node)
		d.builder.DeleteNode(c.Node)
	}
	d.arrived()
	d.by(d.now, func() { d.release(c.Name) })
}

// release lets go of the claim of a machine that is gone.
func (d *day) release(name string) {
	c, ok := d.claims[name]
	if !ok {
		return
	}
	d.write()
	d.dropClaim(name)
	d.arrived()
	d.again() // a budget may have room again
	if c.Pool == d.fixed().ID {
		d.soonKeep(1)
	}
}

func (d *day) price(i market.Instance) money.Micro {
	w := d.builder.Snapshot(d.now)
	c := w.Catalog(template)
	for _, s := range c.Shapes {
		for _, o := range s.Offers {
			if s.Name == i.Type && o.Zone == i.Zone && o.CapacityType == i.CapacityType {
				return o.Price
			}
		}
	}
	return 0
}

// again puts a look at what can be given back on the agenda. One that is due much later, as when a machine will be too
// old, does not hold it up.
func (d *day) again() {
	if due := d.now + quiet; (d.giving < d.now || d.giving > due) && !d.life.down {
		d.giving = due
		d.by(due, d.give)
	}
}

// give gives back what the engine says, if that may be.
func (d *day) give() {
	d.guards()
	w := d.builder.Snapshot(d.now)
	p := disrupt.Decide(w, disrupt.Options{Only: []disrupt.Part{disrupt.Idling}, AsIs: !d.cfg.Move, Marked: d.marks(w)})
	d.report.Decisions++
	d.budgets(w, p)
	if p.Again > 0 {
		d.giving = p.Again
		d.by(p.Again, d.give)
	}
	for _, c := range p.Commands {
		if c.Verdict == plan.TakeBack { // the process ended before the mark was taken away
			d.intend(w.Place(c.Back[0].Node), "")
		}
	}
	for _, b := range p.Back() {
		place := w.Place(b.Node)
		switch {
		case place == nil:
			d.problem("given back: node %q, which is not there", b.Node)
			continue
		case b.Reason == plan.Empty && !hold.IsEmpty(place):
			d.problem("node %s is given back as empty with %d pods", b.Node, len(place.Pods))
		}
		if b.Reason == plan.Expired {
			d.report.Expired++
		}
		d.end(d.claims[b.Claim])
	}
}

// budgets asks whether more machines of a pool go by choice than its budget lets.
func (d *day) budgets(w *world.World, p plan.Plan) {
	all, going, chosen := map[world.PoolID]int{}, map[world.PoolID]int{}, map[world.PoolID]int{}
	for _, at := range w.Places() {
		if at.Claim == nil || !at.Claim.Initialized {
			continue
		}
		all[at.Pool()]++
		if at.Deleting() {
			going[at.Pool()]++
		}
	}
	for _, b := range p.Back() {
		if b.Reason == plan.Empty {
			chosen[b.Pool]++
		}
	}
	for id, n := range chosen {
		if may := (all[id]*share + 99) / 100; going[id]+n > may {
			d.problem("pool %s: %d of %d machines go and %d more are given back, its budget lets %d", id.Name, going[id], all[id], n, may)
		}
	}
}

// check asks whether all still holds.
func (d *day) check() {
	used := map[string]amount.List{}
	waiting := 0
	for _, p := range d.pods {
		if p.Node == "" {
			waiting++
			continue
		}
		if _, ok := d.nodes[p.Node]; !ok {
			d.problem("pod %s runs on %s, which is not there", p.Key, p.Node)
		}
		used[p.Node] = used[p.Node].Plus(p.Requests)
	}
	d.report.PeakPods = max(d.report.PeakPods, len(d.pods)-waiting)
	for name, u := range used {
		if s, short := u.Short(d.nodes[name].Allocatable); short {
			d.problem("node %s is over-full: %s wants %d, has %d", name, s.Name, s.Wants, s.Has)
		}
	}
	d.limits()
	d.leaks()
}

// limits asks whether a pool has more than it may.
func (d *day) limits() {
	have := map[world.PoolID]amount.List{}
	for _, c := range d.claims {
		size := c.Booked
		if c.Launched {
			size = c.Capacity
		}
		have[c.Pool] = have[c.Pool].Plus(size).Plus(amount.Of(amount.Entry{Name: amount.Nodes, Value: amount.Unit}))
	}
	for _, p := range d.builder.Snapshot(d.now).Pools() {
		for _, l := range p.Limits {
			if h := have[p.ID].Value(l.Name); h > l.Value {
				d.problem("pool %s has %s of %s, its limit is %s", p.ID.Name, amount.Text(l.Name, h), l.Name, amount.Text(l.Name, l.Value))
			}
		}
	}
}

// leaks asks whether a machine runs that no claim stands for.
func (d *day) leaks() {
	known := map[string]bool{}
	for _, c := range d.claims {
		known[c.ProviderID] = true
	}
	for _, i := range d.instances() {
		if c, ok := d.claims[orderOf(i)]; ok && !c.Launched {
			continue // the answer was lost, or the process that asked ended; the claim stands for it
		}
		if !i.State.Gone() && !known[driver.ProviderID(i)] {
			d.problem("machine %s has no owner", i.ID)
		}
	}
}

// instances are the machines there are. They are copied only when something has changed.
func (d *day) instances() []market.Instance {
	if v := d.market.Version(); v != d.seen || d.there == nil {
		d.seen, d.there = v, d.market.Instances()
	}
	return d.there
}

// night asks whether everything has been given back once no pod is left.
func (d *day) night() {
	alive := 0
	for _, i := range d.market.Instances() {
		if !i.State.Gone() {
			alive++
		}
	}
	if len(d.pods)+len(d.claims)+len(d.nodes)+alive > 0 {
		d.problem("at night %d pods, %d claims, %d nodes and %d machines are left", len(d.pods), len(d.claims), len(d.nodes), alive)
	}
}
