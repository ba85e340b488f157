package day

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// Life is what happens in weeks. All of it stops for a while every night, and
// then it is asked whether everything has settled.
type Life struct {
	Rollouts               int // a day: a workload's pods are replaced by others
	Breaks, Takes, SoldOut int // a day, as in Config
	Deaths                 int // a day: the process ends between two writes, and another begins with empty memory
	Storms, Edits          int // a week: most spot machines of a zone are taken back; a pool's template changes
	Faults                 int // percent of the cloud's calls that fail, half of them after they were carried out
	Lame                   int // percent of the machines that never join
	Each                   func(Evening)
}

// Kind reports whether anything of it happens.
func (l Life) Kind() bool {
	return l.Rollouts+l.Breaks+l.Takes+l.SoldOut+l.Deaths+l.Storms+l.Edits+l.Faults+l.Lame > 0 || l.Each != nil
}

// Evening is how things stand at the end of a quiet night.
type Evening struct {
	Day    int // from 1
	World  *world.World
	So     Report // since the first day
	Coming int    // what is on the agenda
}

// life is what only weeks know.
type life struct {
	evening int64
	days    int
	catalog world.Catalog
	daemon  world.DaemonSet
	queue   []string        // machines of which the cloud has said that they are taken back
	lame    map[string]bool // machines that never join
	silent  int64           // until when the cloud answers nothing
	rolling map[string]bool

	number int  // of the process
	down   bool // it has ended, and the next has not begun
	doomed int  // writes until it ends; 0: it does not
}

// The lengths of things, in seconds.
const (
	nightly    = 3 * 3600 // when all becomes quiet
	silence    = 100 * 60 // and for how long
	registered = 15 * 60  // how long a machine may take until it has joined
	patient    = 80 * 60  // how long one may take to leave: pods forbid it for up to 70 minutes
	every      = 30       // between two looks at machines
	dayLong    = 24 * 3600
)

// labelEdition says which edition of its pool's template a machine was made of.
const labelEdition = "day.example.com/edition"

// quietAt reports whether nothing is to happen then, and for how long.
func (d *day) quietAt(when int64) (left int64, quiet bool) {
	if !d.cfg.Life.Kind() {
		return 0, false
	}
	of := when%dayLong - nightly
	return silence - of, of >= 0 && of < silence
}

// loud is when, or the end of the quiet that it falls into.
func (d *day) loud(when int64) int64 {
	if left, quiet := d.quietAt(when); quiet {
		return when + left + d.rng.Int64N(300)
	}
	return when
}

// morning puts on the agenda what a day brings.
func (d *day) morning() {
	l := d.cfg.Life
	weekly := func(n int) int { return n/7 + min(1, max(0, n%7-d.rng.IntN(7))) }
	for _, x := range []struct {
		times int
		do    func()
	}{
		{l.Rollouts, d.rollout},
		{l.Breaks, d.breakOne},
		{l.Takes, d.takeOne},
		{l.SoldOut, d.sellOut},
		{l.Deaths, d.doom},
		{weekly(l.Storms), d.storm},
		{weekly(l.Edits), d.edit},
		{min(l.Faults, 1), d.hush},
	} {
		for range x.times {
			if at := d.loud(d.now + d.rng.Int64N(dayLong)); at < d.life.evening-7200 {
				d.at(at, x.do)
			}
		}
	}
	check := d.now + (nightly+silence-d.now%dayLong+dayLong)%dayLong
	if check < d.life.evening {
		d.at(check-1, d.settled)
	}
	if next := d.now + dayLong; next < d.life.evening {
		d.at(next, d.morning)
	}
}

// storm has most spot machines of a zone taken back; there is no spot there for a while.
func (d *day) storm() {
	zones := d.market.Zones()
	zone := zones[d.rng.IntN(len(zones))].Name
	d.report.Storms++
	none := market.Capacity{Zone: zone, CapacityType: market.Spot}
	d.market.SetCapacity(none)
	d.at(d.now+1800+d.rng.Int64N(7200), func() { d.market.ClearCapacity(none) })
	var hit []string
	for _, i := range d.market.Instances() {
		if i.State == market.Running && i.CapacityType == market.Spot && i.Zone == zone && !d.taken[i.ID] {
			hit = append(hit, i.ID)
		}
	}
	slices.Sort(hit)
	for _, id := range hit {
		if d.rng.IntN(5) == 0 {
			continue
		}
		d.taken[id] = true
		if err := d.market.Interrupt(id); err != nil {
			d.problem("storm: %v", err)
		}
		d.report.Taken++
	}
}

// edit changes the template of a pool, and every other time that of two, as an edit of their class does. Their machines drift.
func (d *day) edit() {
	names := []string{"first", "general"}
	d.report.Edits++
	for _, name := range names[:1+d.report.Edits%2] {
		p := d.objects[world.PoolID{Kind: world.NodePool, Name: name}]
		p.Labels = map[string]string{labelEdition: strconv.Itoa(d.report.Edits)}
		d.objects[p.ID] = p
		d.must(d.builder.SetPool(p))
	}
}

// hush has the cloud answer nothing for minutes.
func (d *day) hush() { d.life.silent = d.now + 60 + d.rng.Int64N(600) }

// rollout replaces the pods of a workload by others, a quarter at a time and none before its successor runs.
func (d *day) rollout() {
	names := slices.Sorted(maps.Keys(d.apps))
	a := d.apps[names[d.rng.IntN(len(names))]]
	if d.life.rolling[a.name] {
		return
	}
	if d.life.rolling == nil {
		d.life.rolling = map[string]bool{}
	}
	d.life.rolling[a.name] = true
	d.report.Rollouts++
	cpu := []int64{100, 250, 500, 1000, 2000, 4000}[d.rng.IntN(6)]
	a.pod.Labels = map[string]string{"app": a.name, "edition": strconv.Itoa(d.report.Rollouts)}
	a.pod.Requests = amount.Of(amount.Entry{Name: amount.CPU, Value: cpu}, amount.Entry{Name: amount.Memory, Value: cpu * int64(1+d.rng.IntN(6)) << 20},
		amount.Entry{Name: amount.Pods, Value: amount.Unit})
	d.roll(a)
}

func (d *day) roll(a *app) {
	var old []world.Key
	ready := 0
	for _, k := range a.pods {
		if d.pods[k].Labels["edition"] != a.pod.Labels["edition"] {
			old = append(old, k)
		}
		if d.pods[k].Node != "" {
			ready++
		}
	}
	for _, k := range old {
		if d.pods[k].Node != "" {
			if ready <= a.want {
				continue
			}
			ready--
		}
		d.delete(k)
		a.pods = slices.DeleteFunc(a.pods, func(o world.Key) bool { return o == k })
	}
	if len(old) == 0 || d.now >= d.life.evening {
		delete(d.life.rolling, a.name)
		return
	}
	for most := a.want + (a.want+3)/4; len(a.pods) < most; {
		a.pods = append(a.pods, d.create(a.pod, a.name))
	}
	d.at(d.loud(d.now+20), func() { d.roll(a) })
}

// rounds looks at the machines again and again: which joined while no process
// looked, which are gone, which never join, and which have drifted.
func (d *day) rounds() {
	if len(d.claims) > 0 || d.now < d.life.evening {
		d.by(d.now+every, d.rounds)
	}
	there := map[string]market.Instance{}
	for _, i := range d.instances() {
		if !i.State.Gone() {
			there[idOf(i)] = i
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.claims)) {
		c := d.claims[name]
		if !c.Launched {
			continue
		}
		i, ok := there[c.ProviderID]
		pool := d.objects[c.Pool]
		switch {
		case !ok && c.Node == "" || !ok && d.nodes[c.Node].Name == "":
			d.release(name)
		case ok && !c.Registered && i.State == market.Running && d.now-i.Launched.Unix() > 2*every:
			d.joined(i)
			if !d.claims[name].Registered && d.now-c.Created > registered {
				d.end(c)
			}
		case c.Registered && !c.Deleting && c.Drifted == "" && pool.Replicas == nil && pool.ID.Kind == world.NodePool && c.Labels[labelEdition] != pool.Labels[labelEdition]:
			c.Drifted = "NodePoolDrifted"
			d.write()
			d.setClaim(c)
		}
	}
}

// known finds the machine of a claim that is to go before anything was said of
// one. Without a machine the claim goes.
func (d *day) known(c *world.Claim, since int64) bool {
	d.write()
	all, err := d.driver.List(context.Background())
	if err != nil {
		d.by(d.now+look, func() { d.drain(c.Name, since) })
		return false
	}
	i := slices.IndexFunc(all, func(m cloud.Machine) bool { return m.Order == c.Name && !m.Ending })
	if i < 0 {
		d.release(c.Name)
		return false
	}
	d.launched(c, all[i])
	return true
}

// once asks whether the same decision, made again, buys for pods that machines are coming for.
func (d *day) once(p plan.Plan) {
	if !d.cfg.Life.Kind() || len(p.New) == 0 || d.rng.IntN(4) > 0 {
		return
	}
	coming := map[world.Key]string{}
	for _, c := range d.claims {
		if c.Created == d.now && !c.Deleting && !c.Registered {
			for _, k := range c.Pods {
				coming[k] = c.Name
			}
		}
	}
	for _, a := range provision.Decide(d.builder.Snapshot(d.now), provision.Options{Steps: steps}).New {
		for _, k := range a.Pods {
			if name := coming[k]; name != "" {
				d.problem("pod %s: %s was bought for it, and a machine is bought again", k, name)
			}
		}
	}
}

// settled asks at the end of a quiet night whether everything is done.
func (d *day) settled() {
	d.life.days++
	w := d.builder.Snapshot(d.now)
	for _, p := range w.Waiting() {
		if d.now-p.Created > 15*60 {
			d.problem("pod %s still waits after %d s of quiet", p.Key, d.now-p.Created)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.claims)) {
		c := d.claims[name]
		if !c.Registered && !c.Deleting && d.now-c.Created > registered+2*every {
			d.problem("claim %s has no node after %d s", name, d.now-c.Created)
		}
		if since := d.leaving[name]; since > 0 && d.now-since > patient {
			d.problem("claim %s is to go for %d s", name, d.now-since)
		}
	}
	if d.cfg.Life.Each != nil {
		d.cfg.Life.Each(Evening{Day: d.life.days, World: w, So: d.report, Coming: len(d.agenda.due)})
	}
}
