package day

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// app is a workload that grows by day and shrinks by night.
type app struct {
	name string
	pod  world.Pod
	most int
	// spare is how many of its pods may be missing at once; 0: they are not counted.
	spare int
	want  int // how many there are to be
	pods  []world.Key
}

func (d *day) app(i int) *app {
	a := &app{name: fmt.Sprintf("app-%d", i), most: 1 + d.rng.IntN(d.cfg.Most)}
	cpu := []int64{100, 250, 500, 1000, 2000, 4000}[d.rng.IntN(6)]
	a.pod = world.Pod{
		Labels: map[string]string{"app": a.name}, Waiting: true,
		Requests: amount.Of(amount.Entry{Name: amount.CPU, Value: cpu}, amount.Entry{Name: amount.Memory, Value: cpu * int64(1+d.rng.IntN(6)) << 20 * 1000 / 1000 * 1000},
			amount.Entry{Name: amount.Pods, Value: amount.Unit}),
	}
	switch d.rng.IntN(6) {
	case 0:
		a.pod.NodeSelector = label.SetOf(label.Is(label.CapacityType, label.OnDemand))
	case 1:
		zones := d.market.Zones()
		a.pod.NodeSelector = label.SetOf(label.Is(label.Zone, zones[d.rng.IntN(len(zones))].Name))
	case 2:
		a.pod.Priority = 100
	}
	if d.cfg.Life.Kind() && i%3 == 0 {
		a.spare = 1
		return a
	}
	switch d.rng.IntN(6) {
	case 0:
		a.spare = 1 + d.rng.IntN(3)
	case 1:
		a.pod.Disruption.ForbiddenFor = 600 + d.rng.Int64N(3600)
	}
	return a
}

// grow sets the workload to the size of the hour, and comes back within the hour. In the evening it ends.
func (d *day) grow(a *app, evening int64) {
	want := 0
	if d.now < evening {
		hour := float64(d.now%86400) / 3600
		share := 0.5 - 0.45*math.Cos(2*math.Pi*hour/24) + 0.1*d.rng.Float64()
		want = max(0, min(a.most, int(math.Round(share*float64(a.most)))))
		d.at(d.loud(d.now+300+d.rng.Int64N(3600)), func() { d.grow(a, evening) })
	}
	a.want = want
	for len(a.pods) > want {
		i := d.rng.IntN(len(a.pods))
		d.delete(a.pods[i])
		a.pods = slices.Delete(a.pods, i, i+1)
	}
	for len(a.pods) < want {
		a.pods = append(a.pods, d.create(a.pod, a.name))
	}
}

// create makes a pod that waits for a place.
func (d *day) create(like world.Pod, name string) world.Key {
	d.serial++
	like.Key = world.Key{Namespace: "day", Name: fmt.Sprintf("%s-%06d", name, d.serial)}
	like.UID, like.Created, like.Node, like.Waiting = like.Name, d.now, "", true
	d.setPod(like)
	d.report.Pods++
	d.arrived()
	return like.Key
}

func (d *day) setPod(p world.Pod) {
	d.pods[p.Key] = p
	d.must(d.builder.SetPod(p))
}

func (d *day) delete(k world.Key) {
	if p, ok := d.pods[k]; ok {
		d.touched(p.Node)
		delete(d.pods, k)
		d.builder.DeletePod(k)
		d.again()
	}
}

// arrived puts the scheduler and a decision on the agenda, once each.
func (d *day) arrived() {
	if !d.binding {
		d.binding = true
		d.at(d.now, d.bind)
	}
	if !d.planned && !d.life.down {
		d.planned = true
		d.by(d.now+batch, d.plan)
	}
}

// touched notes on a node's claim that a pod came or went.
func (d *day) touched(node string) {
	n, ok := d.nodes[node]
	if !ok {
		return
	}
	if c, ok := d.claims[n.Claim]; ok {
		c.LastPodEvent = d.now
		d.setClaim(c)
	}
}

// bind plays kube-scheduler: every waiting pod, in any order, goes to any node that takes it.
func (d *day) bind() {
	d.binding = false
	w := d.builder.Snapshot(d.now)
	var places []fit.Place
	for _, m := range w.Places() {
		if m.Node != nil && m.Node.Ready && !m.Deleting() {
			places = append(places, fit.Of(w, m))
		}
	}
	waiting := slices.Clone(w.Waiting())
	d.rng.Shuffle(len(waiting), func(i, j int) { waiting[i], waiting[j] = waiting[j], waiting[i] })
	slices.SortStableFunc(waiting, func(a, b *world.Pod) int { return int(b.Priority) - int(a.Priority) })
	for _, p := range waiting {
		start := d.rng.IntN(len(places) + 1)
		for i := range places {
			at := &places[(start+i)%len(places)]
			if !fit.Fits(p, at) {
				continue
			}
			at.Free = at.Free.Minus(p.Requests)
			bound := *p
			bound.Node, bound.Waiting, bound.Nominated, bound.Started = at.Name, false, "", d.now
			d.report.LongestWait = max(d.report.LongestWait, d.now-p.Created)
			d.setPod(bound)
			d.touched(at.Name)
			break
		}
	}
}

// evict ends the pods of a node that is gone; their workloads make new ones.
func (d *day) evict(node string, counts bool) {
	var of []world.Pod
	for _, k := range slices.SortedFunc(maps.Keys(d.pods), compare) {
		if p := d.pods[k]; p.Node == node {
			of = append(of, p)
		}
	}
	for _, p := range of {
		if counts {
			d.report.Evicted++
		}
		d.move(p)
	}
}

// move has a pod wait for another place. It keeps its name, so that its workload
// still knows it.
func (d *day) move(p world.Pod) {
	d.touched(p.Node)
	p.Node, p.Waiting, p.Created, p.Started = "", true, d.now, 0
	d.setPod(p)
	d.arrived()
}

func compare(a, b world.Key) int {
	switch {
	case a.Name < b.Name:
		return -1
	case a.Name > b.Name:
		return 1
	}
	return 0
}
