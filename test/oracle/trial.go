package oracle

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/whatif"
)

// Trial is what came of one made-up cluster.
type Trial struct {
	Placed  int      // placements that were checked
	Refused int      // refusals that were checked
	Wrong   []string // where the judge disagrees
}

// trials are the ways to make a cluster of a seed and to have it judged.
//
//nolint:gochecknoglobals // a constant that Go cannot write
var trials = map[string]func(*Conversation, uint64) (Trial, error){
	"plans":       func(o *Conversation, seed uint64) (Trial, error) { return o.judge(generate(seed)) },
	"moves":       func(o *Conversation, seed uint64) (Trial, error) { return o.judgeMoves(generate(seed)) },
	"small":       func(o *Conversation, seed uint64) (Trial, error) { return o.judge(small(seed)) },
	"small-moves": func(o *Conversation, seed uint64) (Trial, error) { return o.judgeMoves(small(seed)) },
	"attended":    func(o *Conversation, seed uint64) (Trial, error) { return o.judge(attended(seed)) },
	"shared":      func(o *Conversation, seed uint64) (Trial, error) { return o.judgeShared(shared(seed)) },
	"typical":     tryTypical,
	"tiny":        func(_ *Conversation, seed uint64) (Trial, error) { return tryTiny(seed) },
}

// Trials are the names of all kinds of trials.
func Trials() []string {
	return []string{"plans", "moves", "small", "small-moves", "attended", "shared", "typical", "tiny"}
}

// Try makes the cluster of a seed and has it judged. A panic counts as a disagreement.
func Try(kind string, o *Conversation, seed uint64) (t Trial, err error) {
	defer func() {
		if r := recover(); r != nil {
			t.Wrong = append(t.Wrong, fmt.Sprintf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	try, ok := trials[kind]
	if !ok {
		return t, fmt.Errorf("there are no trials %q, only %q", kind, Trials())
	}
	return try(o, seed)
}

// tryTypical judges the plan for a cluster as people have them.
func tryTypical(o *Conversation, seed uint64) (Trial, error) {
	return o.judge(Settle(seed, 10+int(seed%50))) //nolint:gosec // a small number
}

// judge asks whether kube-scheduler's filters accept every placement of a
// plan in some order, and whether they accept a refused pod anywhere.
func (o *Conversation) judge(c *Cluster) (Trial, error) {
	w, err := c.world()
	if err != nil {
		return Trial{}, err
	}
	p := provision.Decide(w, provision.Options{})
	v, err := o.Ask(c.ask("", p))
	if err != nil {
		return Trial{}, err
	}
	t := Trial{Placed: v.Placed, Refused: len(p.Refused)}
	if len(v.Wrong)+len(v.Possible) > 0 {
		t.Wrong = append(t.Wrong, fmt.Sprintf("refused by the scheduler: %q\nrefused by us, possible: %q\n%s", v.Wrong, v.Possible, p.Text(true)))
	}
	return t, nil
}

// judgeMoves asks of every node whether the pods that whatif.Cluster moves off
// it are accepted where they are sent, one after the other, and whether those
// that it finds no place for are accepted anywhere.
func (o *Conversation) judgeMoves(c *Cluster) (Trial, error) {
	var t Trial
	c = c.standing()
	w, err := c.world()
	if err != nil {
		return t, err
	}
	c = c.carry(provision.Decide(w, provision.Options{}))
	if w, err = c.world(); err != nil {
		return t, err
	}
	cluster := whatif.New(w, provision.Options{}, whatif.Staying)
	for i, p := range cluster.Places() {
		q := c.without(p.Name()).ask(p.Name(), plan.Plan{})
		moves, homeless := cluster.Elsewhere(i)
		for _, m := range moves {
			q.Placements[m.Pod.String()] = m.To.Name()
		}
		inOrder(q.Pods, moves)
		for _, h := range homeless {
			if !enginetest.LastOfDomain(w, p, h) {
				q.Refused[h.String()] = nil
			}
		}
		t.Placed, t.Refused = t.Placed+len(moves), t.Refused+len(homeless)
		v, err := o.Ask(q)
		if err != nil {
			return t, err
		}
		if len(v.Wrong)+len(v.Possible) > 0 {
			t.Wrong = append(t.Wrong, fmt.Sprintf("without %s:\nrefused by the scheduler: %q\nrefused by us, possible: %q\nmoved %v, homeless %v", p.Name(), v.Wrong, v.Possible, moves, homeless))
		}
	}
	return t, nil
}

// inOrder sorts the pods that move as they were moved, after all others. The
// judge binds what it can in the order of the question, and the first pod of
// an affinity to its like is not the first any more if another of them was
// bound before it.
func inOrder(pods []corev1.Pod, moves []whatif.Move) {
	at := map[string]int{}
	for i, m := range moves {
		at[m.Pod.String()] = i + 1
	}
	slices.SortStableFunc(pods, func(a, b corev1.Pod) int {
		return cmp.Compare(at[a.Namespace+"/"+a.Name], at[b.Namespace+"/"+b.Name])
	})
}
