package fit

import (
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Resources refuses a place with too little left of something the pod asks for.
func Resources(p *world.Pod, at *Place) *reason.Why {
	if p.Requests.Fits(at.Free) {
		return nil
	}
	var short []string
	for _, e := range p.Requests {
		if has := max(at.Free.Value(e.Name), 0); e.Value > has {
			short = append(short, ShortText(e.Name, e.Value, has))
		}
	}
	return &reason.Why{Code: reason.Resource, Subject: at.Name, Detail: strings.Join(short, ", ")}
}

func roomy(p *world.Pod, at *Place) bool { return p.Requests.Fits(at.Free) }

// ShortText says how much of a resource is wanted and how much there is at least.
func ShortText(name string, wants, has int64) string {
	w, h := amount.Against(name, wants, has)
	return name + " wants " + w + ", has " + h
}
