package advice

// Simple is what the hard terms of a class come to for new machines, when
// that can be said without looking at one pod after the other.
type Simple struct {
	PerHost int     // how many pods one machine may hold; 0: any number
	Shared  []Share // caps on what one machine may hold of several classes together
	Owns    []int32 // anti-affinity over machines that it carries
	Shunned []int32 // anti-affinity over machines that counts it
	Split   *Split  // it has to be divided among domains
	Home    *Home   // one domain has to take all

	// Of groups of which not all members carry the constraint, or not all that carry it are members.
	Counted   []int32 // beyond the machine: groups that count it
	CountedBy string  // the topology key of all of them
	Among     []Split // beyond the machine: it has to go where pods that it is none of are spread evenly
	Mixed     []Share // on a machine: constraints that it carries
	MixedIn   []int32 // on a machine: groups that count it
}

// Share is a cap on the members of a group that one machine may hold.
type Share struct {
	Group int32
	Cap   int
}

// Home says that one domain of a key has to take all pods of a group, whichever classes they are of.
type Home struct {
	Key   string
	Group int32
}

// Split says that the pods of a group have to be divided among the domains of a
// key: those of several classes together.
type Split struct {
	Key        string
	Group      int32
	MaxSkew    int
	MinDomains int
	Alone      bool           // at most one a domain: anti-affinity, no spread
	Counts     map[string]int // in every domain that has machines that count, or pods
}

func (s *Simple) cap(n int) {
	if s.PerHost == 0 || n < s.PerHost {
		s.PerHost = n
	}
}
