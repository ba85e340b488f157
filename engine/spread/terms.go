package spread

import "github.com/tenon-sh/tenon/engine/world"

// terms are the constraints and pod terms that matter, as groups of the pods that they count, and where such pods find them.
type terms struct {
	namespaces map[string]map[string]string
	keys       []string
	keyIndex   map[string]int
	domains    []register // for each key, its values so far
	groups     []*group
	byTerms    map[string]int32
	unmade     map[string]int32         // of volumes still to be made that several pods wait for: their groups
	exclusive  map[string]int32         // of volumes for one node, or one pod, that several pods have: their groups
	owned      map[*world.PodTerm]int32 // anti-affinity of running pods: its group, or none
	kin        map[*world.Kin][]int32   // the groups that count running pods
	shelves    map[string]*shelf        // where pods of a namespace find the groups that count them
	wide       *shelf                   // where all pods look besides
	filters    []*nodeFilter
	eligible   []*eligibleNodes

	filterIndex   map[string]int
	eligibleIndex map[[2]int]int // by filter and key

	text []byte // room to work in
}

func newTerms(namespaces []*world.Namespace) terms {
	l := terms{
		namespaces: make(map[string]map[string]string, len(namespaces)),
		keyIndex:   map[string]int{},
		byTerms:    map[string]int32{},
		unmade:     map[string]int32{},
		exclusive:  map[string]int32{},
		owned:      map[*world.PodTerm]int32{},
		kin:        map[*world.Kin][]int32{},
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
func (l *terms) Counts() bool { return len(l.groups) > 0 }

// Keys returns the topology keys that matter, in the order in which they were enlisted.
func (l *terms) Keys() []string { return l.keys }

func (l *terms) key(name string) int {
	if i, ok := l.keyIndex[name]; ok {
		return i
	}
	i := len(l.keys)
	l.keyIndex[name] = i
	l.keys = append(l.keys, name)
	l.domains = append(l.domains, register{})
	return i
}

// eligibleNodes returns the number of the nodes that are eligible by a filter, by domain of a key.
func (l *terms) eligibleNodes(s nodeFilter, key int) int {
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
		l.eligible = append(l.eligible, &eligibleNodes{filter: n, key: key})
	}
	return i
}
