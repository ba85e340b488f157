package explain

import (
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Hold is one thing that keeps a node from being given back.
type Hold struct {
	Code   reason.Code `json:"code"`
	Pods   []string    `json:"pods,omitempty"` // because of which
	Detail string      `json:"detail"`

	// Outcome is what comes of the pods, where the hold is that they run there.
	Outcome string `json:"outcome,omitempty"`

	Hint  string `json:"hint,omitempty"`  // what would end it
	Until string `json:"until,omitempty"` // when it ends by itself
}

// kept puts what keeps a machine into words; what several pods have in common is said once.
func (e *Explainer) kept(p *world.Place, found []hold.Hold) []Hold {
	out := []Hold{}
	said := map[common]int{}
	for _, f := range found {
		h := e.hold(p, f)
		key := common{h.Code, h.Detail}
		i, there := said[key]
		if !there {
			i = len(out)
			said[key] = i
			out = append(out, h)
		}
		if f.Pod != nil {
			out[i].Pods = append(out[i].Pods, f.Pod.String())
		}
	}
	return out
}

// common is what several pods' holds may have in common.
type common struct {
	code   reason.Code
	detail string
}

func (e *Explainer) hold(p *world.Place, f hold.Hold) Hold {
	h := Hold{Code: f.Code, Until: moment(f.Until)}
	h.Detail, h.Hint = e.book().Words(p, f)
	return h
}

// ends says what time brings when the hold is over.
func (h Hold) ends() string {
	if h.Code == reason.TooSoon {
		return "its pool has waited long enough, if no pod comes or goes"
	}
	return "what keeps it ends: " + h.Detail
}

// kept says why a machine is kept, without its name, which stands above.
func kept(why *reason.Why) string {
	of := *why
	of.Subject = ""
	return of.Said()
}

// use is how the text says that pods run there.
func (h Hold) use() string { return are(len(h.Pods)) + " in use, and " + h.Outcome }
