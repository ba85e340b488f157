package world

import (
	"slices"
	"strings"
)

// GuardsOf returns the pod disruption budgets that count for a pod.
func (w *World) GuardsOf(p *Pod) []*Guard {
	from, _ := slices.BinarySearchFunc(w.guards, p.Namespace, func(g *Guard, namespace string) int { return strings.Compare(g.Namespace, namespace) })
	var out []*Guard
	for _, g := range w.guards[from:] {
		if g.Namespace != p.Namespace {
			break
		}
		if g.Selector.Match(p.Labels) && !(g.UnhealthyLeave && !p.ReadyToServe) {
			out = append(out, g)
		}
	}
	return out
}
