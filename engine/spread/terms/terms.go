// Package terms says which groups of pods are counted for the topology spread constraints and pod affinity terms of others, and for the volumes that several share.
package terms

import (
	"github.com/tenon-sh/tenon/engine/spread/domain"
	"github.com/tenon-sh/tenon/engine/world"
)

// Table are the constraints and pod terms that matter, as groups of the pods that they count, and where such pods find them.
type Table struct {
	namespaces map[string]map[string]string
	keys       []string // the topology keys that matter, in the order in which they were enlisted
	keyIndex   map[string]int
	domains    []domain.Register // for each key, its values so far
	groups     []*Group
	byTerms    map[string]int32
	unmade     map[string]int32            // of volumes still to be made that several pods wait for: their groups
	exclusive  map[string]int32            // of volumes for one node, or one pod, that several pods have: their groups
	owned      map[*world.PodTerm]int32    // anti-affinity of running pods: its group, or none
	labelled   map[*world.Labelled][]int32 // the groups that count running pods
	shelves    map[string]*shelf           // where pods of a namespace find the groups that count them
	wide       *shelf                      // where all pods look besides
	filters    []*NodeFilter
	eligible   []*EligibleNodes

	filterIndex   map[string]int
	eligibleIndex map[[2]int]int // by filter and key

	text []byte // room to work in
}

func NewTable(namespaces []*world.Namespace) Table {
	l := Table{
		namespaces: make(map[string]map[string]string, len(namespaces)),
		keyIndex:   map[string]int{},
		byTerms:    map[string]int32{},
		unmade:     map[string]int32{},
		exclusive:  map[string]int32{},
		owned:      map[*world.PodTerm]int32{},
		labelled:   map[*world.Labelled][]int32{},
		shelves:    map[string]*shelf{},
		wide:       &shelf{},

		filterIndex:   map[string]int{},
		eligibleIndex: map[[2]int]int{},
	}
	for _, n := range namespaces {
		l.namespaces[n.Name] = n.Labels
	}
	return l
}

// TopologyKeys are the keys that matter, in the order in which they were enlisted.
func (l *Table) TopologyKeys() []string { return l.keys }

// TopologyKey is one of them.
func (l *Table) TopologyKey(key int) string { return l.keys[key] }

// KeyNumber is the place of a topology key among them; false if it does not matter.
func (l *Table) KeyNumber(name string) (key int, known bool) {
	key, known = l.keyIndex[name]
	return key, known
}

// DomainsOf are the values of a topology key so far. Entering a machine adds its own.
func (l *Table) DomainsOf(key int) *domain.Register { return &l.domains[key] }

// Groups are all groups, by number.
func (l *Table) Groups() []*Group { return l.groups }

// Group is one of them.
func (l *Table) Group(id int32) *Group { return l.groups[id] }

// Filters say which machines count, by number.
func (l *Table) Filters() []*NodeFilter { return l.filters }

// Filter is one of them.
func (l *Table) Filter(n int) *NodeFilter { return l.filters[n] }

// Eligible are the machines that count by a filter, or may come to, for each pair of filter and key that matters.
func (l *Table) Eligible() []*EligibleNodes { return l.eligible }

// Counts reports whether anything has to be counted at all.
func (l *Table) Counts() bool { return len(l.groups) > 0 }

func (l *Table) key(name string) int {
	if i, ok := l.keyIndex[name]; ok {
		return i
	}
	i := len(l.keys)
	l.keyIndex[name] = i
	l.keys = append(l.keys, name)
	l.domains = append(l.domains, domain.Register{})
	return i
}

// eligibleNodes returns the number of the nodes that are eligible by a filter, by domain of a key.
func (l *Table) eligibleNodes(s NodeFilter, key int) int {
	l.text = s.append(l.text[:0])
	n, known := l.filterIndex[string(l.text)]
	if !known {
		n = len(l.filters)
		l.filterIndex[string(l.text)] = n
		kept := s
		l.filters = append(l.filters, &kept)
	}
	i, known := l.eligibleIndex[[2]int{n, key}]
	if !known {
		i = len(l.eligible)
		l.eligibleIndex[[2]int{n, key}] = i
		l.eligible = append(l.eligible, &EligibleNodes{Filter: n, Key: key})
	}
	return i
}
