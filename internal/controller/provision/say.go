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
// was given up on the way. Pods that are refused for the same reason share a line.
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
	var news []*alike
	byLine := map[string]*alike{}
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
			if byLine[line] == nil {
				byLine[line] = &alike{line: line}
				news = append(news, byLine[line])
			}
			byLine[line].add(r.Pod.String())
		}
	}
	for _, a := range news {
		c.Log.Error(nil, "Could not schedule pod, "+a.line, a.fields()...)
	}
	c.told = next
}

// alike are pods that are refused for the same reason.
type alike struct {
	line string
	some []string // the first of them
	pods int
}

// named is how many of them a line of the log names.
const named = 5

func (a *alike) add(pod string) {
	if a.pods++; len(a.some) < named {
		a.some = append(a.some, pod)
	}
}

// fields are what a line of the log says of them: one pod, and where there are more how many and which.
func (a *alike) fields() []any {
	out := []any{"pod", a.some[0]}
	if a.pods > 1 {
		out = append(out, "pods", a.pods, "among", a.some)
	}
	return out
}
