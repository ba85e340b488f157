// Package judge has kube-scheduler's own filter plugins go over an answer, bought machines and all.
package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/bench/outcome"
	"github.com/tenon-sh/tenon/bench/scenario"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/test/oracle"
)

// Verdict is what they say of an answer.
type Verdict struct {
	Wrong    []string        // placements that they refuse in every order of binding, and why
	Possible []string        // refused pods that they would accept somewhere, and where
	Legal    map[string]bool // pods that may be where they are placed
}

// Outcome asks about every placement of an answer, in an order in which pods can
// be bound; and, if refusals is set, about every refused pod on each node that is
// there then and on one machine of each type and zone that a pool may buy.
func Outcome(o *oracle.Conversation, in scenario.Input, catalog world.Catalog, out outcome.Outcome, refusals bool) (Verdict, error) {
	c := cluster(in, catalog)
	var bought []oracle.Machine
	placed := map[string]string{}
	for i, n := range out.New {
		m := oracle.Machine{Name: fmt.Sprintf("new-%05d", i), Pool: n.Pool, Shape: n.Type, Zone: n.Zone, CapacityType: n.CapacityType}
		bought = append(bought, m)
		for _, p := range n.Pods {
			placed[p] = m.Name
		}
	}
	for _, f := range out.Fills {
		for _, p := range f.Pods {
			placed[p] = f.Node
		}
	}
	q := c.Question(bought, placed)
	if refusals {
		c.Refuse(&q, slices.Sorted(maps.Keys(out.Refused)))
	}
	said, err := o.Ask(q)
	if err != nil {
		return Verdict{}, err
	}
	v := Verdict{Wrong: said.Wrong, Possible: said.Possible, Legal: map[string]bool{}}
	for p := range placed {
		v.Legal[p] = true
	}
	for _, w := range said.Wrong {
		pod, _, _ := strings.Cut(w, " ")
		delete(v.Legal, pod)
	}
	if said.Placed != len(v.Legal) {
		return v, fmt.Errorf("kube-scheduler's plugins accept %d placements of %d and refuse %d", said.Placed, len(placed), len(said.Wrong))
	}
	return v, nil
}

// cluster is a world with its nodes and pods.
func cluster(in scenario.Input, catalog world.Catalog) *oracle.Cluster {
	return &oracle.Cluster{
		Catalog: catalog, Pools: values(in.Pools), Daemons: values(in.DaemonSets), Nodes: values(in.Nodes), Pods: append(values(in.Bound), values(in.Pending)...),
	}
}

func values[T any](list []*T) []T {
	out := make([]T, len(list))
	for i, x := range list {
		out[i] = *x
	}
	return out
}
