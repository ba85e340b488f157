package world

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
)

// load is the pods that run on one node, and what is known of them together.
type load struct {
	node string
	pods []*Pod // by key
	used amount.List

	kin          []*Kin // of each of the pods
	ending       bool   // some of the pods are terminating
	daemons      []*Pod
	holders      []*Pod
	antiAffinity []*PodTerm
}

// Kin is what selectors can tell of a pod. Pods of one deployment share it.
type Kin struct {
	Namespace string
	Labels    map[string]string
}

// kinship finds the Kin of pods.
type kinship struct {
	known map[string]*Kin
	text  []byte
}

// of returns the kin of a pod, the one known already if it is equal.
func (k *kinship) of(p *Pod) *Kin {
	k.text = appendLabels(writeString(k.text[:0], p.Namespace), p.Labels)
	kin := k.known[string(k.text)]
	if kin == nil {
		if k.known == nil || len(k.known) == mostShared {
			k.known = map[string]*Kin{}
		}
		kin = &Kin{p.Namespace, p.Labels}
		k.known[string(k.text)] = kin
	}
	return kin
}

// shift is one pod that came to a node, or went if there is none.
type shift struct {
	key Key
	pod *Pod
}

// shift notes a shift of a node's load.
func (b *Builder) shift(node string, s shift) {
	if b.shifts == nil {
		b.shifts = map[string][]shift{}
	}
	b.shifts[node] = append(b.shifts[node], s)
}

// settleLoads brings the loads up to date, each node's at once.
func (b *Builder) settleLoads() ([]*load, []string) {
	for node, shifts := range b.shifts {
		var before []*Pod
		if l := b.loads.find(node); l != nil {
			before = l.pods
		}
		b.loads.put(node, newLoad(node, shifted(before, shifts), &b.kinship))
	}
	b.shifts = nil
	return b.loads.settle()
}

// shifted returns the pods after the shifts, of which the last for each key counts.
func shifted(pods []*Pod, shifts []shift) []*Pod {
	slices.SortStableFunc(shifts, func(a, b shift) int { return compareKey(a.key, b.key) })
	out := make([]*Pod, 0, len(pods)+len(shifts))
	for i, s := range shifts {
		if i+1 < len(shifts) && shifts[i+1].key == s.key {
			continue
		}
		n, found := slices.BinarySearchFunc(pods, s.key, comparePodKey)
		out = append(out, pods[:n]...)
		if pods = pods[n:]; found {
			pods = pods[1:]
		}
		if s.pod != nil {
			out = append(out, s.pod)
		}
	}
	return append(out, pods...)
}

func comparePodKey(p *Pod, k Key) int { return compareKey(p.Key, k) }

// newLoad looks at each pod once; nil if there are none.
func newLoad(node string, pods []*Pod, k *kinship) *load {
	if len(pods) == 0 {
		return nil
	}
	l := &load{node: node, pods: slices.Clip(pods), kin: make([]*Kin, len(pods))}
	var used amount.Total
	for i, p := range pods {
		l.kin[i] = k.of(p)
		used.Add(p.Requests)
		l.ending = l.ending || p.Terminating
		if p.DaemonSet != "" {
			l.daemons = append(l.daemons, p)
		}
		if len(p.Ports)+len(p.Volumes)+len(p.Devices) > 0 {
			l.holders = append(l.holders, p)
		}
		for j := range p.PodTerms {
			if p.PodTerms[j].KeepsAway() {
				l.antiAffinity = append(l.antiAffinity, &p.PodTerms[j])
			}
		}
	}
	l.used = used.List()
	return l
}
