// Package statemetrics says what there is in numbers: metrics of nodes, pods, pools, offers and conditions, made when they are scraped.
//
// Nothing here is kept up to date by itself: gauges are made of one World while
// a scrape waits, so that an idle cluster costs nothing. What happens once, such
// as a pod's start, is counted when it happens.
package statemetrics

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/metric"
)

// Samples are the series of metrics, by the metrics' names.
type Samples map[string][]metric.Sample

func (s Samples) add(name string, value float64, labels ...string) {
	s[name] = append(s[name], metric.Sample{Labels: labels, Value: value})
}

// resource is a resource's name as metrics show it, which is how Karpenter's do.
func resource(name string) string {
	return strings.ReplaceAll(strings.ToLower(name), "-", "_")
}

// Of is what a World says in numbers of pools and offers. used is what the nodes of each pool have together.
func Of(w *world.World, used map[world.PoolID]amount.List) Samples {
	s := Samples{}
	s.pools(w, used)
	s.offers(w)
	return s
}

// Each gives the series of a metric of nodes or pods, one at a time: there may be hundreds of thousands. The
// labels of one are those of the next as soon as that is asked for. keys are the labels of nodes that metrics show.
func Each(w *world.World, keys []string, name string) iter.Seq[metric.Sample] {
	return func(yield func(metric.Sample) bool) {
		s := &stream{name: name, yield: yield}
		if slices.Contains(nodeNames(), name) {
			s.nodes(w, keys)
		} else {
			s.pods(w)
		}
	}
}

// stream passes on the series of one metric.
type stream struct {
	name   string
	yield  func(metric.Sample) bool
	labels []string
	over   bool // no more is wanted
}

func (s *stream) wants(name string) bool { return name == s.name && !s.over }

func (s *stream) add(name string, value float64, labels ...string) {
	if s.wants(name) {
		s.labels = append(s.labels[:0], labels...)
		s.over = !s.yield(metric.Sample{Labels: s.labels, Value: value})
	}
}

// amounts adds one series for each resource of a list.
func (s *stream) amounts(name string, list amount.List, labels []string) {
	if !s.wants(name) {
		return
	}
	for _, e := range list {
		s.add(name, float64(e.Value)/amount.Unit, append(labels[:len(labels):len(labels)], resource(e.Name))...)
	}
}

// columns are the label keys of the metrics of nodes, in the order of the table.
func columns(keys []string) []string {
	var out []string
	for _, name := range metric.NodeLabels(keys) {
		i := slices.IndexFunc(keys, func(k string) bool { return metric.NodeLabels([]string{k})[0] == name })
		out = append(out, keys[i])
	}
	return out
}

// labelsOf are the labels that metrics of nodes have of a node.
func labelsOf(p *world.Place, columns []string) []string {
	labels := make([]string, 0, len(columns)+4)
	for _, k := range columns {
		labels = append(labels, p.Node.Labels[k])
	}
	return append(labels, text(p.Claim != nil), p.Node.Name, "")
}

func (s *stream) nodes(w *world.World, keys []string) {
	columns := columns(keys)
	var asked, room amount.Total
	for _, p := range w.Places() {
		if p.Node == nil {
			continue
		}
		labels := labelsOf(p, columns)
		var pods, daemons amount.List
		for _, pod := range p.Pods {
			if !s.wants(metric.NodesPodRequests) && !s.wants(metric.NodesDaemonRequests) {
				break
			}
			if pod.DaemonSet != "" {
				daemons = daemons.Plus(pod.Requests)
			} else {
				pods = pods.Plus(pod.Requests)
			}
		}
		s.amounts(metric.NodesAllocatable, p.Node.Allocatable, labels)
		s.amounts(metric.NodesPodRequests, pods, labels)
		s.amounts(metric.NodesDaemonRequests, daemons, labels)
		s.amounts(metric.NodesSystemOverhead, p.Node.Capacity.Minus(p.Node.Allocatable), labels)
		s.add(metric.NodesCurrentLifetime, float64(max(w.At()-p.Node.Created, 0)), labels...)
		asked.Add(p.Used)
		room.Add(p.Node.Allocatable)
	}
	all := asked.List()
	for _, e := range room.List() {
		if e.Value > 0 {
			s.add(metric.ClusterUtilization, 100*float64(all.Value(e.Name))/float64(e.Value), resource(e.Name))
		}
	}
}

func (s Samples) pools(w *world.World, used map[world.PoolID]amount.List) {
	cost := map[world.PoolID]money.Micro{}
	for _, p := range w.Places() {
		cost[p.Pool()] += plan.PriceOf(w, p)
	}
	for _, pool := range w.Pools() {
		name := pool.ID.Name
		for _, e := range pool.Limits {
			s.add(metric.PoolsLimit, float64(e.Value)/amount.Unit, resource(e.Name), name)
		}
		for _, e := range used[pool.ID] {
			s.add(metric.PoolsUsage, float64(e.Value)/amount.Unit, resource(e.Name), name)
		}
		s.add(metric.PoolsCost, cost[pool.ID].Units(), name)
		for _, reason := range []string{plan.Empty, "Underutilized", "Drifted"} {
			room := hold.RoomOf(w, pool, reason)
			s.add(metric.PoolsAllowedDisruptions, float64(min(room.Left(), room.Machines)), name, reason)
			s.add(metric.PoolsConsumingBudgets, float64(room.Going), name, reason)
		}
	}
}

// pods are those that are not done. A pod without a place counts as scheduled nowhere.
func (s *stream) pods(w *world.World) {
	zones := map[string]int{}
	for _, p := range w.Pods() {
		if p.Done || p.Virtual {
			continue
		}
		var at map[string]string
		pool, managed := "", false
		if place := w.Place(p.Node); p.Node != "" && place != nil {
			at, pool, managed = place.Labels(), place.Pool().Name, place.Claim != nil
		}
		phase := "Pending"
		if p.Started > 0 {
			phase = "Running"
		}
		s.add(metric.PodsState, 1, p.Name, p.Namespace, p.DaemonSet, p.Node, text(p.Node != ""), pool, at[label.Zone], at[label.Arch],
			at[label.CapacityType], at[label.InstanceType], phase, text(p.ReadyToServe), text(managed))
		age := float64(max(w.At()-p.Created, 0))
		if !p.ReadyToServe {
			s.add(metric.PodsUnstartedTime, age, p.Name, p.Namespace)
		}
		if p.Node == "" {
			s.add(metric.PodsUnboundTime, age, p.Name, p.Namespace)
		}
		if p.Waiting {
			zones[zoneOf(p)]++
		}
	}
	for _, zone := range slices.Sorted(maps.Keys(zones)) {
		s.add(metric.SchedulerPendingByZone, float64(zones[zone]), "provisioner", zone)
	}
}

// zoneOf is the one zone that a pod insists on; "" if it may have several.
func zoneOf(p *world.Pod) string {
	sets := []label.Set{p.NodeSelector}
	if len(p.NodeTerms) == 1 {
		sets = append(sets, p.NodeTerms[0].Labels)
	}
	for _, set := range sets {
		if q, ok := set.Find(label.Zone); ok && !q.Not && len(q.Values) == 1 {
			return q.Values[0]
		}
	}
	return ""
}

// offers are what can be bought. What several templates sell counts once, at
// the least of its prices, and is to be had if any of them has it.
func (s Samples) offers(w *world.World) {
	type offer struct{ shape, zone, kind string }
	type terms struct {
		price   money.Micro
		to      bool
		priced  bool
		refused int
	}
	shapes, offers := map[string]bool{}, map[offer]terms{}
	for _, c := range w.Catalogs() {
		for i := range c.Shapes {
			shape := &c.Shapes[i]
			if !shapes[shape.Name] {
				shapes[shape.Name] = true
				s.add(metric.TypeCPU, float64(shape.Capacity.Value(amount.CPU))/amount.Unit, shape.Name)
				s.add(metric.TypeMemory, float64(shape.Capacity.Value(amount.Memory))/amount.Unit, shape.Name)
			}
			for _, o := range shape.Offers {
				k := offer{shape.Name, o.Zone, o.CapacityType}
				t := offers[k]
				if !t.priced || o.Price < t.price {
					t.price, t.priced = o.Price, true
				}
				t.to, t.refused = t.to || !o.Gone, max(t.refused, o.Refused)
				offers[k] = t
			}
		}
	}
	for k, t := range offers {
		available := 0.0
		if t.to {
			available = 1
		}
		s.add(metric.OfferingAvailable, available, k.shape, k.zone, k.kind)
		s.add(metric.OfferingPrice, t.price.Units(), k.shape, k.zone, k.kind)
		if t.refused > 0 {
			s.add(metric.OfferingRefused, float64(t.refused)/1000, k.shape, k.zone, k.kind)
		}
	}
	for _, name := range []string{metric.OfferingAvailable, metric.OfferingPrice, metric.OfferingRefused} {
		slices.SortFunc(s[name], func(a, b metric.Sample) int { return slices.Compare(a.Labels, b.Labels) })
	}
}

func text(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

// Names are the metrics that Of gives. One that it gives no series for has none.
func Names() []string {
	return []string{
		metric.PoolsLimit, metric.PoolsUsage, metric.PoolsCost, metric.PoolsAllowedDisruptions, metric.PoolsConsumingBudgets,
		metric.TypeCPU, metric.TypeMemory, metric.OfferingAvailable, metric.OfferingPrice, metric.OfferingRefused,
	}
}

// EachNames are the metrics that Each gives.
func EachNames() []string {
	return append(nodeNames(), metric.PodsState, metric.PodsUnstartedTime, metric.PodsUnboundTime, metric.SchedulerPendingByZone)
}

func nodeNames() []string {
	return []string{
		metric.NodesAllocatable, metric.NodesPodRequests, metric.NodesDaemonRequests, metric.NodesSystemOverhead, metric.NodesCurrentLifetime, metric.ClusterUtilization,
	}
}
