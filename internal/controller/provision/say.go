package provision

import (
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/wording"
)

// told is what was logged of pods that wait, so that it is not said again while nothing changes.
type told struct {
	refused map[string]string // the last refusal, by UID
	relaxed map[[2]string]bool
	noPools bool
}

// announce logs what is about to be asked for.
func (c *Controller) announce(p plan.Plan) {
	if found := wording.Found(p); found != "" {
		c.Log.Info(found)
	}
	for _, a := range p.New {
		c.Log.Info(wording.Launching(a), wording.Kind(a.Pool), a.Pool.Name)
	}
}

// say logs each refusal once, until it is another one, and each soft term that
// was given up on the way.
func (c *Controller) say(w *world.World, p plan.Plan) {
	next := told{refused: map[string]string{}, relaxed: map[[2]string]bool{}, noPools: len(w.Pools()) == 0 && len(p.Refused) > 0}
	relax := func(pod *world.Pod, line string) {
		key := [2]string{pod.UID, line}
		next.relaxed[key] = true
		if !c.told.relaxed[key] {
			c.Log.V(1).Info(line, "pod", pod.Key.String())
		}
	}
	for _, l := range p.GivenUp {
		if pod := w.Pod(l.Pod); pod != nil {
			relax(pod, wording.Relaxed(pod, l))
		}
	}
	if next.noPools && !c.told.noPools {
		c.Log.Error(nil, wording.NoPools)
	}
	for _, r := range p.Refused {
		pod := w.Pod(r.Pod)
		if next.noPools || pod == nil || enact.Silent(r) {
			continue
		}
		for _, line := range wording.RelaxedAll(pod) {
			relax(pod, line)
		}
		line := wording.Refusal(w, r)
		next.refused[r.UID] = line
		if c.told.refused[r.UID] != line {
			c.Log.Error(nil, "Could not schedule pod, "+line, "pod", r.Pod.String())
		}
	}
	c.told = next
}
