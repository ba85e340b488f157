// Package nodememory knows how much memory nodes of a type turn out to have, which EC2 does not say.
package nodememory

import (
	"slices"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/clock"
)

const (
	// leastMemory is the part of a type's memory, as its divisor, that a node of it
	// has at least: the smallest machines lose the most.
	leastMemory = 2
	// aloneMemory is the part, in hundredths, below which no node is believed that is alone in saying so.
	aloneMemory = 75
	// alikePercent is how far, in hundredths, what nodes of a type say may be below what is in the middle.
	alikePercent = 90
	// witnessMany is how many nodes of a type are listened to, witnessKept after how long one is forgotten.
	witnessMany = 16
	witnessKept = 30 * 24 * time.Hour
)

// witnesses are what nodes of one type say, by the nodes' names.
type witnesses map[string]witness

type witness struct {
	memory int64 // bytes
	at     time.Time
}

// Seen is what nodes say of their memory.
type Seen struct {
	catalog *catalog.Catalog
	now     clock.Now

	mu   sync.Mutex
	seen map[string]witnesses // by type
}

// New returns a Seen that has heard nothing yet.
func New(c *catalog.Catalog, now clock.Now) *Seen {
	return &Seen{catalog: c, now: now, seen: map[string]witnesses{}}
}

// Learn notes how much memory a node of a type turned out to have. What cannot be
// true of the type is not believed: the node may have been edited.
func (s *Seen) Learn(node, shape string, memory int64) {
	t, known := s.catalog.Type(shape)
	if !known || memory > t.MemoryMiB<<20 || memory < t.MemoryMiB<<20/leastMemory {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[shape] == nil {
		s.seen[shape] = witnesses{}
	}
	s.seen[shape].hear(node, witness{memory, s.now()})
}

// hear takes down what a node says. Of many nodes those with the least are listened to.
func (w witnesses) hear(node string, says witness) {
	if _, known := w[node]; !known && len(w) >= witnessMany {
		most := ""
		for name, has := range w {
			if most == "" || has.memory > w[most].memory || has.memory == w[most].memory && name < most {
				most = name
			}
		}
		if w[most].memory <= says.memory {
			return
		}
		delete(w, most)
	}
	w[node] = says
}

// least is the memory that the next node of a type is taken to have, of which EC2
// says that it has so much: the least that nodes say, but for those far below the
// rest. It is false where nothing is known.
func (w witnesses) least(whole int64) (int64, bool) {
	var all []int64
	for _, has := range w {
		all = append(all, has.memory)
	}
	if len(all) == 0 {
		return 0, false
	}
	slices.Sort(all)
	middle := all[len(all)/2]
	all = slices.DeleteFunc(all, func(m int64) bool { return m < middle/100*alikePercent })
	// The odd one may be the middle of two or three. One that nothing bears out is not believed.
	if all[0] < whole/100*aloneMemory && (len(all) == 1 || all[1] > all[0]/100*(200-alikePercent)) {
		return 0, false
	}
	return all[0], true
}

// Believed is the memory that nodes are seen to have, by type.
func (s *Seen) Believed() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int64{}
	for shape, w := range s.seen {
		for node, has := range w {
			if s.now.Since(has.at) > witnessKept {
				delete(w, node)
			}
		}
		if t, known := s.catalog.Type(shape); known {
			if memory, ok := w.least(t.MemoryMiB << 20); ok {
				out[shape] = memory
			}
		}
	}
	return out
}
