package provision

import (
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/wording"
)

// logged is what was logged of pods that wait, so that it is not logged again while nothing changes.
type logged struct {
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
// was given up on the way. Where many pods are refused for the same reason, they share a line.
func (c *Controller) say(w *world.World, p plan.Plan) {
	next := logged{refused: map[string]string{}, relaxed: map[[2]string]bool{}, noPools: len(w.Pools()) == 0 && len(p.Refused) > 0}
	relax := func(pod *world.Pod, line string) {
		key := [2]string{pod.UID, line}
		next.relaxed[key] = true
		if !c.logged.relaxed[key] {
			c.Log.V(1).Info(line, "pod", pod.Key.String())
		}
	}
	for _, l := range p.GivenUp {
		if pod := w.Pod(l.Pod); pod != nil && !pod.Virtual {
			relax(pod, wording.Relaxed(pod, l))
		}
	}
	if next.noPools && !c.logged.noPools {
		c.Log.Error(nil, wording.NoPools)
	}
	var news []*alike
	byLine := map[string]*alike{}
	for _, r := range p.Refused {
		pod := w.Pod(r.Pod)
		if next.noPools || pod == nil || pod.Virtual || r.Gated() {
			continue
		}
		for _, line := range wording.RelaxedAll(pod) {
			relax(pod, line)
		}
		line := wording.Refusal(w, r)
		next.refused[r.UID] = line
		if c.logged.refused[r.UID] != line {
			if byLine[line] == nil {
				byLine[line] = &alike{line: line}
				news = append(news, byLine[line])
			}
			byLine[line].add(r.Pod.String())
		}
	}
	for _, a := range news {
		if a.pods > maxOwnLines {
			c.Log.Error(nil, "Could not schedule pod, "+a.line, a.fields()...)
			continue
		}
		for _, pod := range a.some {
			c.Log.Error(nil, "Could not schedule pod, "+a.line, "pod", pod)
		}
	}
	c.logged = next
}

// alike are pods that are refused for the same reason.
type alike struct {
	line string
	some []string // the first few of them
	pods int
}

const (
	maxOwnLines = 20 // so many have a line each, by which one finds a pod in the log as with Karpenter
	maxNamed    = 5  // so many does a line name that is of more
)

func (a *alike) add(pod string) {
	if a.pods++; len(a.some) < maxOwnLines {
		a.some = append(a.some, pod)
	}
}

// fields are what the line of many pods says of them: one, how many there are, and some others.
func (a *alike) fields() []any {
	return []any{"pod", a.some[0], "pods", a.pods, "among", a.some[:maxNamed]}
}
