package world

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
)

// Place is one machine that pods may run on: a node, joined with the claim
// that asked for it, or a claim whose node has not joined yet.
type Place struct {
	Node  *Node  // nil while the machine has not joined
	Claim *Claim // nil for a node that was not asked for by a claim
	Pods  []*Pod // that run there and are not done, by key
	Used  amount.List

	load *load
}

// Name is the node's name, or the claim's while there is no node.
func (p *Place) Name() string {
	if p.Node != nil {
		return p.Node.Name
	}
	return p.Claim.Name
}

// Pool is whose machine it is; zero for that of none.
func (p *Place) Pool() PoolID {
	if p.Claim != nil {
		return p.Claim.Pool
	}
	return p.Node.Pool
}

// Deleting reports whether the machine is going away.
func (p *Place) Deleting() bool {
	return p.Node != nil && p.Node.Deleting || p.Claim != nil && p.Claim.Deleting
}

// Whole reports whether the machine has joined and is known to be complete.
func (p *Place) Whole() bool {
	return p.Node != nil && (p.Claim == nil || p.Claim.Initialized)
}

// Labels are the node's labels, or those the claim is known to get while there is no node.
func (p *Place) Labels() map[string]string {
	if p.Node != nil {
		return p.Node.Labels
	}
	return p.Claim.Labels
}

// Labelled is what selectors can see of each of the pods.
func (p *Place) Labelled() []*Labelled { return p.summary().labelled }

// Ending reports whether some pod there is terminating.
func (p *Place) Ending() bool { return p.summary().ending }

// Daemons are the pods that daemon sets run there.
func (p *Place) Daemons() []*Pod { return p.summary().daemons }

// Holders are the pods there that hold what no other pod there can have, or what is counted beyond requests: see holds.
func (p *Place) Holders() []*Pod { return p.summary().holders }

// holds reports whether the pod is one of those that a place names as its holders. Of the pods that run on a machine, rules that
// look at host ports, volumes or devices are shown these only, since most pods hold nothing: those of packages fit and spread, by
// Place.Holders. A rule that looks at something else of running pods needs it here.
func (p *Pod) holds() bool { return len(p.Ports)+len(p.Volumes)+len(p.Devices) > 0 }

// AntiAffinity are the required terms by which pods there keep others away, of each pod its own.
func (p *Place) AntiAffinity() []*PodTerm { return p.summary().antiAffinity }

// summary is what is known of the place's pods together. A World's places have
// it; one that was put together by hand is looked at every time.
func (p *Place) summary() *load {
	switch {
	case p.load != nil:
		return p.load
	case len(p.Pods) == 0:
		return &load{}
	}
	return newLoad("", p.Pods, &labelling{})
}

func newPlace(n *Node, c *Claim, l *load) *Place {
	p := &Place{Node: n, Claim: c, load: l}
	if l != nil {
		p.Pods, p.Used = l.pods, l.used
	}
	return p
}

func same(a, b *Place) bool { return a.Node == b.Node && a.Claim == b.Claim && a.load == b.load }

func comparePlace(p *Place, name string) int { return strings.Compare(p.Name(), name) }

// placeKey is what places are ordered by: a node's comes before that of a claim of the same name which has none.
type placeKey struct {
	name string
	bare bool // a claim whose node has not joined
}

func keyOfPlace(p *Place) placeKey { return placeKey{p.Name(), p.Node == nil} }

func comparePlaceKey(a, b placeKey) int {
	if by := strings.Compare(a.name, b.name); by != 0 || a.bare == b.bare {
		return by
	}
	if a.bare {
		return 1
	}
	return -1
}

// load is the pods that run on one node, and what is known of them together.
type load struct {
	node string
	pods []*Pod // by key
	used amount.List

	labelled     []*Labelled // of each of the pods
	ending       bool        // some of the pods are terminating
	daemons      []*Pod
	holders      []*Pod
	antiAffinity []*PodTerm
}

// newLoad looks at each pod once; nil if there are none.
func newLoad(node string, pods []*Pod, k *labelling) *load {
	if len(pods) == 0 {
		return nil
	}
	l := &load{node: node, pods: slices.Clip(pods), labelled: make([]*Labelled, len(pods))}
	var used amount.Total
	for i, p := range pods {
		l.labelled[i] = k.of(p)
		used.Add(p.Requests)
		l.ending = l.ending || p.Terminating
		if p.DaemonSet != "" {
			l.daemons = append(l.daemons, p)
		}
		if p.holds() {
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

// shift is one pod that came to a node, or went if there is none.
type shift struct {
	key Key
	pod *Pod
}

// Labelled is what selectors can see of a pod. Pods of one deployment share it.
type Labelled struct {
	Namespace string
	Labels    map[string]string
}

// labelling finds what selectors can see of pods.
type labelling struct {
	known map[string]*Labelled
	text  []byte
}

// of returns what selectors can see of a pod, the value known already if there is an equal one.
func (k *labelling) of(p *Pod) *Labelled {
	k.text = appendLabels(writeString(k.text[:0], p.Namespace), p.Labels)
	labelled := k.known[string(k.text)]
	if labelled == nil {
		if k.known == nil || len(k.known) == mostShared {
			k.known = map[string]*Labelled{}
		}
		labelled = &Labelled{p.Namespace, p.Labels}
		k.known[string(k.text)] = labelled
	}
	return labelled
}

func compareKey(a, b Key) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// ComparePool orders pools by name, then kind.
func ComparePool(a, b PoolID) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Kind, b.Kind))
}

func comparePodKey(p *Pod, k Key) int { return compareKey(p.Key, k) }
