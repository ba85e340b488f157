package terms

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// shelf is groups, by a label that their members carry where there is one.
type shelf struct {
	columns []column
	others  []int32
}

// column is groups by the value that their members have for one label.
type column struct {
	key string
	by  map[string][]int32
}

func (s *shelf) file(i int32, terms []world.PodTerm) {
	r := filedBy(terms)
	if r == nil {
		s.others = append(s.others, i)
		return
	}
	at := slices.IndexFunc(s.columns, func(c column) bool { return c.key == r.Key })
	if at < 0 {
		at = len(s.columns)
		s.columns = append(s.columns, column{r.Key, map[string][]int32{}})
	}
	for _, v := range r.Values {
		s.columns[at].by[v] = append(s.columns[at].by[v], i)
	}
}

// filedBy is the first demand of the terms that names values; nil if there is none.
func filedBy(terms []world.PodTerm) *label.Requirement {
	for _, t := range terms {
		for i := range t.Selector.Set {
			if r := &t.Selector.Set[i]; r.Op() == label.In {
				return r
			}
		}
	}
	return nil
}
