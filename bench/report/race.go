package report

import (
	"fmt"
	"strings"
)

// Race is one cluster whose pods were bound while machines joined, by the plans of each planner.
type Race struct {
	Version string  `json:"version"` // of this project
	Seed    uint64  `json:"seed"`
	Pods    int     `json:"pods"`
	Least   float64 `json:"least"` // what machines for its pods cost at least
	Bound   []Bound `json:"bound"`
}

// Bound is where pods ended, and on what.
type Bound struct {
	By       string  `json:"by"`
	Planned  float64 `json:"planned"` // what the machines of the first plan cost an hour
	Cost     float64 `json:"cost"`    // of all machines
	Idle     float64 `json:"idle"`    // of those on which no pod runs in the end
	Nodes    int     `json:"nodes"`   // of the first plan
	Machines int     `json:"machines"`
	Placed   int     `json:"placed"`
	Stranded int     `json:"stranded"` // pods that do not run on machines of the first plan
	Homeless int     `json:"homeless"` // pods that run nowhere
}

const (
	nominated    = "Tenon"
	notNominated = "Tenon, nothing closed or nominated"
	peerBinds    = "Karpenter"
)

// Planners names those whose plans are bound: ours with nominations, ours without, the peer.
func Planners() (with, without, other string) { return nominated, notNominated, peerBinds }

const raceNote = `A plan says where pods should run; kube-scheduler binds them as it likes. Here both sides' plans are bound by kube-scheduler's own plugins and default profile, on clusters of many small deployments and a few large ones, half of them spread or kept apart, with machines of at most 32 cores ([how](after-binding.md)). Machines bought together join within half a minute, each in its own time. It is decided again again and again, and what can be bound is bound, until everything runs. *After binding* is what all machines that were bought in the end cost, over what the least plan costs, as Tenon proves it; *in use* leaves out those on which nothing runs then, which either side would give back within minutes. *Stranded* are pods that do not run on machines of the first plan: few where more was bought in time, needed or not.

What is alike: machines are what was planned, no launch fails, nothing is given back, and deciding takes no time. The peer has its launched claims and its joined nodes in its state and simulates on them all that waits, as in a cluster; it looks every ten seconds, as it does there (looking whenever something happens costs it no less). That it holds soft spreads as hard until nothing else fits is its default, and makes its plans dearer from the start. What favours Tenon is its own doing: it looks whenever something happens, keeps machines closed for seconds and nominates pods for them, which kube-scheduler heeds from Kubernetes 1.35 on. The second line is without either.

`

// raceTable writes what plans are worth when their pods are bound.
func raceTable(b *strings.Builder, all []Race) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\n## After binding\n\n" + raceNote)
	fmt.Fprintf(b, "%d clusters of %s pods each: costs are medians, machines and pods are counted in all. Measured with Tenon %s.\n\n", len(all), thousands(all[0].Pods), all[0].Version)
	b.WriteString("| | planned: cost / bound | machines | after binding: cost / bound | worst | in use | machines | stranded |\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, by := range []string{nominated, notNominated, peerBinds} {
		s := sumUp(all, by)
		before, _ := middle(s.before)
		after, worst := middle(s.after)
		used, _ := middle(s.used)
		fmt.Fprintf(b, "| %s | %.3f | %d | **%.3f** | %.3f | %.3f | %d | %.2f %% |\n", by, before, s.nodes, after, worst, used, s.machines, s.share())
	}
}

// summary is all clusters of one planner.
type summary struct {
	before, after, used []float64 // over the bound
	nodes, machines     int
	placed, stranded    int
}

// share is stranded pods of a hundred.
func (s summary) share() float64 { return 100 * float64(s.stranded) / float64(max(s.placed, 1)) }

func sumUp(all []Race, by string) summary {
	var s summary
	for _, r := range all {
		for _, b := range r.Bound {
			if b.By != by || r.Least <= 0 {
				continue
			}
			s.before, s.after, s.used = append(s.before, b.Planned/r.Least), append(s.after, b.Cost/r.Least), append(s.used, (b.Cost-b.Idle)/r.Least)
			s.nodes, s.machines = s.nodes+b.Nodes, s.machines+b.Machines
			s.placed, s.stranded = s.placed+b.Placed, s.stranded+b.Stranded
		}
	}
	return s
}

// raceGoals holds what binding costs against what Tenon means to reach.
func raceGoals(all []Race) []goal {
	if len(all) == 0 {
		return nil
	}
	with, peer := sumUp(all, nominated), sumUp(all, peerBinds)
	after, _ := middle(with.after)
	theirs, _ := middle(peer.after)
	ours, _ := middle(with.used)
	them, _ := middle(peer.used)
	return []goal{
		{"after binding: at most 1 % of pods stranded", fmt.Sprintf("%.2f %% (the peer: %.2f %%)", with.share(), peer.share()), with.share() <= 1},
		{"after binding: cost / bound at most 1.05", fmt.Sprintf("%.3f (the peer: %.3f)", after, theirs), after <= 1.05},
		{"after binding: no dearer than the peer", fmt.Sprintf("%.3f and %.3f; in use %.3f and %.3f", after, theirs, ours, them), after <= theirs && ours <= them},
	}
}
