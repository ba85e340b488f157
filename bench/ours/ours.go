// Package ours puts a world through the engine.
package ours

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/tenon-sh/tenon/bench/measure"
	"github.com/tenon-sh/tenon/bench/outcome"
	"github.com/tenon-sh/tenon/bench/scenario"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
)

// Side is the name of this side.
const Side = "tenon"

// template is what all pools buy from.
const template world.TemplateID = "catalogue"

// Run decides. What the world holds before the pods arrive is taken in first,
// as the controller would have done long ago.
func Run(in scenario.Input, catalog world.Catalog, options provision.Options) (outcome.Outcome, error) {
	out := outcome.Outcome{Side: Side, InputMiB: measure.PeakMiB(), Refused: map[string]string{}}
	catalog.Template = template
	b := world.NewBuilder()
	var err error
	out.Hold = measure.Of(func() {
		if err = hold(b, in, catalog); err == nil {
			b.Snapshot(0)
		}
	})
	if err != nil {
		return out, err
	}
	var p plan.Plan
	out.Decide = measure.Of(func() {
		for _, pod := range in.Pending {
			if err = b.SetPod(read(pod)); err != nil {
				return
			}
		}
		p = provision.Decide(b.Snapshot(0), options)
	})
	if err != nil {
		return out, err
	}
	out.PeakMiB = measure.PeakMiB()
	fill(p, &out)
	return out, nil
}

// hold takes in all but the pods that wait.
func hold(b *world.Builder, in scenario.Input, catalog world.Catalog) error {
	if err := b.SetCatalog(catalog); err != nil {
		return err
	}
	for _, o := range in.Pools {
		p := observe.NodePool(o)
		p.Template, p.NotReady = template, ""
		if err := b.SetPool(p); err != nil {
			return err
		}
	}
	for _, o := range in.DaemonSets {
		if d, ok := observe.DaemonSet(o); ok {
			if err := b.SetDaemonSet(d); err != nil {
				return err
			}
		}
	}
	for _, o := range in.Claims {
		c := observe.Claim(o)
		c.Template = template
		if err := b.SetClaim(c); err != nil {
			return err
		}
	}
	for _, o := range in.Nodes {
		if err := b.SetNode(observe.Node(o, nil)); err != nil {
			return err
		}
	}
	for _, o := range in.Bound {
		if err := b.SetPod(read(o)); err != nil {
			return fmt.Errorf("pod %s: %w", o.Name, err)
		}
	}
	return nil
}

// read reads a pod, whose volumes, if any, are not looked at.
func read(p *corev1.Pod) world.Pod { return observe.Volumes{}.Bind(observe.Pod(p), nil) }

// fill puts the plan into the common form.
func fill(p plan.Plan, out *outcome.Outcome) {
	out.Bound, out.Steps = float64(p.Bound)/1e6, p.Steps
	for _, a := range p.New {
		out.New = append(out.New, outcome.Node{
			Pool: a.Pool.Name, Type: a.Shape, Zone: a.Zone, CapacityType: a.CapacityType, Price: float64(a.Price) / 1e6, Pods: names(a.Pods),
		})
	}
	for _, f := range p.Filled {
		out.Fills = append(out.Fills, outcome.Fill{Node: cmp.Or(f.Node, f.Claim), Pods: names(f.Pods)})
	}
	for _, r := range p.Refused {
		out.Refused[r.Pod.String()] = r.Why.Line()
	}
}

func names(keys []world.Key) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = k.String()
	}
	return out
}
