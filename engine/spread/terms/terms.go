// Package terms says which groups of pods are counted for the topology spread constraints and pod affinity terms of others, and for the volumes that several share.
package terms

import (
	"github.com/tenon-sh/tenon/engine/spread/domain"
	"github.com/tenon-sh/tenon/engine/world"
)

// Table are the constraints and pod terms that matter, as groups of the pods that they count, and where such pods find them.
type Table struct {
	namespaces map[string]map[string]string
	Keys       []string // the topology keys that matter, in the order in which they were enlisted
	KeyIndex   map[string]int
	Domains    []domain.Register // for each key, its values so far
	Groups     []*Group
	byTerms    map[string]int32
	unmade     map[string]int32            // of volumes still to be made that several pods wait for: their groups
	exclusive  map[string]int32            // of volumes for one node, or one pod, that several pods have: their groups
	owned      map[*world.PodTerm]int32    // anti-affinity of running pods: its group, or none
	labelled   map[*world.Labelled][]int32 // the groups that count running pods
	shelves    map[string]*shelf           // where pods of a namespace find the groups that count them
	wide       *shelf                      // where all pods look besides
	Filters    []*NodeFilter
	Eligible   []*EligibleNodes

	filterIndex   map[string]int
	eligibleIndex map[[2]int]int // by filter and key

	text []byte // room to work in
}

func NewTable(namespaces []*world.Namespace) Table {
	l := Table{
		namespaces: make(map[string]map[string]string, len(namespaces)),
		KeyIndex:   map[string]int{},
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

// Counts reports whether anything has to be counted at all.
func (l *Table) Counts() bool { return len(l.Groups) > 0 }

func (l *Table) key(name string) int {
	if i, ok := l.KeyIndex[name]; ok {
		return i
	}
	i := len(l.Keys)
	l.KeyIndex[name] = i
	l.Keys = append(l.Keys, name)
	l.Domains = append(l.Domains, domain.Register{})
	return i
}

// eligibleNodes returns the number of the nodes that are eligible by a filter, by domain of a key.
func (l *Table) eligibleNodes(s NodeFilter, key int) int {
	l.text = s.append(l.text[:0])
	n, known := l.filterIndex[string(l.text)]
	if !known {
		n = len(l.Filters)
		l.filterIndex[string(l.text)] = n
		kept := s
		l.Filters = append(l.Filters, &kept)
	}
	i, known := l.eligibleIndex[[2]int{n, key}]
	if !known {
		i = len(l.Eligible)
		l.eligibleIndex[[2]int{n, key}] = i
		l.Eligible = append(l.Eligible, &EligibleNodes{Filter: n, Key: key})
	}
	return i
}
