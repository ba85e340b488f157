package day

import (
	"context"
	"errors"
	"time"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/controller/terminate"
)

// look is how often a machine that goes is looked at.
const look = 5

// end gives a machine back: no pod comes any more, those there leave as their
// workloads let them, and then it stops.
func (d *day) end(c world.Claim) {
	if c.Deleting {
		return
	}
	c.Deleting = true
	d.write()
	d.setClaim(c)
	if d.leaving[c.Name] == 0 {
		d.leaving[c.Name] = d.now
	}
	d.report.Given++
	d.leave(c.Name)
}

// leave has the pods of a machine leave whose end has been asked for.
func (d *day) leave(name string) {
	if n, ok := d.nodes[d.claims[name].Node]; ok && !n.Deleting {
		n.Deleting = true
		d.write()
		d.nodes[n.Name] = n
		d.must(d.builder.SetNode(n))
	}
	d.drain(name, d.now)
}

// drain takes the step that is due for a machine that has been going for a while.
func (d *day) drain(name string, since int64) {
	c, ok := d.claims[name]
	if !ok {
		return // it was taken, or broke
	}
	if !c.Launched && !d.known(&c, since) {
		return
	}
	seen := terminate.Node{Now: time.Unix(d.now, 0), Tainted: time.Unix(since, 0), Ready: true}
	if at := d.builder.Snapshot(d.now).Place(c.Node); c.Node != "" && at != nil {
		seen.Pods = at.Pods
	}
	switch step := terminate.Next(seen); step {
	case terminate.Drain:
		for _, p := range terminate.Leave(seen).Evict {
			d.ask(p)
		}
		d.by(d.now+look, func() { d.drain(name, since) })
	case terminate.End:
		if len(seen.Pods) > 0 {
			d.problem("machine %s ends with %d pods on it", c.ProviderID, len(seen.Pods))
		}
		id := c.ProviderID[len("aws:///")+len(c.Labels[label.Zone])+1:]
		d.write()
		for _, err := range d.driver.Terminate(context.Background(), []cloud.MachineID{cloud.MachineID(id)}) {
			switch {
			case errors.Is(err, errFault):
				d.by(d.now+look, func() { d.drain(name, since) })
			case err != nil && cloud.CodeOf(err) != cloud.Gone:
				d.problem("terminate %s: %v", id, err)
			}
		}
	default:
		d.problem("machine %s: %s is due, which cannot be done here", c.ProviderID, step)
	}
}

// ask has a pod leave if the budget of its workload lets it go, as the API server does.
func (d *day) ask(p *world.Pod) {
	a := d.apps[p.Labels["app"]]
	switch {
	case p.Forbids(d.now):
		d.problem("pod %s is asked to leave although it forbids that", p.Key)
	case a.spare > 0 && d.allowed(a) == 0:
		d.report.Kept++
	default:
		d.report.Moved++
		d.write()
		d.move(d.pods[p.Key])
	}
}

// allowed is how many pods of a workload may be missing beside those that are.
func (d *day) allowed(a *app) int {
	missing := 0
	for _, k := range a.pods {
		if d.pods[k].Node == "" {
			missing++
		}
	}
	return max(a.spare-missing, 0)
}

// guards puts into the World how many pods of each guarded workload may leave now.
func (d *day) guards() {
	for name, a := range d.apps {
		if a.spare > 0 {
			d.must(d.builder.SetGuard(world.Guard{
				Key: world.Key{Namespace: "day", Name: name}, Allowed: d.allowed(a),
				Selector: world.Selector{Some: true, Set: label.SetOf(label.Is("app", name))},
			}))
		}
	}
}
