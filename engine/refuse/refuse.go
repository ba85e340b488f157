// Package refuse says of a packing why pods have no place in it: everything that pools and machines have against them.
package refuse

import (
	"fmt"
	"math"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// absurdCores is a number of cores that nobody means.
const absurdCores = 1_000_000 * amount.Unit

const coresHint = "write thousandths of a core with an m: 500m is half a core"

// refuser says what is against pods. The packing is what it will be.
type refuser struct {
	*packing.Packing
	against map[*packing.Demands]map[*packing.Bin]string // kinds of objection
}

// All say of every pod without a place why it has none.
func All(p *packing.Packing) []plan.Refusal {
	k := &refuser{p, map[*packing.Demands]map[*packing.Bin]string{}}
	whys := map[*packing.Class]*reason.Why{}
	var out []plan.Refusal
	for _, x := range k.Unplaced {
		why := whys[x.Class]
		if why == nil {
			why = k.why(x)
			whys[x.Class] = why
		}
		out = append(out, plan.Refusal{Pod: x.Pod.Key, UID: x.Pod.UID, Why: why})
	}
	return out
}

// Nodes is what the machines that are there, on their way or planned have against the pod.
func Nodes(p *packing.Packing, x *packing.Pod) []*reason.Why {
	return (&refuser{p, map[*packing.Demands]map[*packing.Bin]string{}}).nodeWhys(x)
}

// why collects everything that machines and pools have against the pod.
func (k *refuser) why(x *packing.Pod) *reason.Why {
	why := &reason.Why{Code: reason.NoPlace, Causes: contrary(x.Pod)}
	if len(why.Causes) > 0 {
		return why
	}
	if cores := x.Pod.Requests.Value(amount.CPU); cores >= absurdCores && cores < math.MaxInt64 {
		why.Causes = append(why.Causes, &reason.Why{
			Code: reason.UnitMixUp, Subject: amount.CPU, Detail: "asks for " + amount.Text(amount.CPU, cores) + " cores",
			Hint: coresHint,
		})
	}
	for _, e := range x.Pod.Requests {
		if e.Value == math.MaxInt64 {
			hint := "look at the unit: 1Gi is 2^30 bytes, 1G is 10^9"
			if e.Name == amount.CPU {
				hint = coresHint
			}
			why.Causes = append(why.Causes, &reason.Why{Code: reason.UnitMixUp, Subject: e.Name, Detail: "asks for more than can be counted", Hint: hint})
		}
	}
	if len(k.World.Pools()) == 0 {
		why.Causes = append(why.Causes, &reason.Why{Code: reason.NoPool, Detail: "there is no pool", Hint: "create a NodePool"})
	}
	for _, p := range k.World.Pools() {
		why.Causes = append(why.Causes, k.poolWhy(p, x))
	}
	why.Causes = append(why.Causes, k.nodeWhys(x)...)
	return why
}

// contrary is what the pod demands of labels that no machine can have, because
// its demands exclude each other.
func contrary(p *world.Pod) []*reason.Why {
	const hint = "take one of them off the pod"
	return anyOf(p.NodeTerms, "node affinity", func(t world.NodeTerm) *reason.Why {
		for _, r := range t.Labels {
			s, also := p.NodeSelector.Find(r.Key)
			switch {
			case r.Impossible():
				return &reason.Why{Code: reason.Label, Detail: "demands on " + r.Key + " in one term of node affinity exclude each other", Hint: hint}
			case also && s.Meet(r).Impossible():
				return &reason.Why{
					Code: reason.Label, Detail: fmt.Sprintf("%s by its node selector and %s by its node affinity exclude each other", s, r), Hint: hint,
				}
			}
		}
		return nil
	})
}

// nodeWhys is what the machines that are there, on their way or planned have
// against the pod; machines with the same objections are told together.
func (k *refuser) nodeWhys(x *packing.Pod) []*reason.Why {
	type lot struct {
		first *packing.Bin
		n     int
	}
	lots := map[string]*lot{}
	var order []string
	for _, bins := range [][]*packing.Bin{k.Existing, k.Planned} {
		for _, b := range bins {
			codes := k.codes(b, x)
			if lots[codes] == nil {
				lots[codes] = &lot{first: b}
				order = append(order, codes)
			}
			l := lots[codes]
			l.n++
			if roomier(b, l.first, x.Class.Need) {
				l.first = b
			}
		}
	}
	var out []*reason.Why
	for _, codes := range order {
		l := lots[codes]
		objections := k.objections(l.first, x)
		if l.n > 1 {
			for _, o := range objections {
				if o.Code == reason.Resource {
					o.Detail += " at most"
				}
				o.Subject = fmt.Sprintf("%d nodes, such as %s", l.n, l.first.Place.Name)
			}
		}
		out = append(out, objections...)
	}
	return out
}

// roomier reports whether b has more than other of what the need is short of there.
func roomier(b, other *packing.Bin, need []int64) bool {
	for i, n := range need {
		if n > 0 && n > other.Free[i] {
			return b.Free[i] > other.Free[i]
		}
	}
	return false
}

// codes names the kinds of objection a bin has.
func (k *refuser) codes(b *packing.Bin, x *packing.Pod) string {
	codes := k.standing(x.Class.Demands, b)
	if !market.Fits(x.Class.Need, b.Free) {
		codes += "r"
	} else if b.Machine == nil && !k.KeepsMinValues(b.Offer, b, x) {
		codes += "v"
	}
	if x.Class.Plain {
		return codes
	}
	for _, rule := range []fit.Rule{fit.Ports, fit.Attach} {
		if rule(x.Pod, b.Place) != nil {
			codes += "p"
		}
	}
	if !k.Ledger.Allows(x.Class.Subject, b.Node) {
		codes += "s"
	}
	return codes
}

// standing names the kinds of standing objection a bin has to pods with the demands.
func (k *refuser) standing(s *packing.Demands, b *packing.Bin) string {
	if codes, known := k.against[s][b]; known {
		return codes
	}
	codes := ""
	if !fit.Stands(s.Pod, b.Place) {
		for i, rule := range fit.Standing() {
			if rule(s.Pod, b.Place) != nil {
				codes += string(rune('0' + i))
			}
		}
	}
	if k.against[s] == nil {
		k.against[s] = map[*packing.Bin]string{}
	}
	k.against[s][b] = codes
	return codes
}

// objections is everything that a bin has against the pod.
func (k *refuser) objections(b *packing.Bin, x *packing.Pod) []*reason.Why {
	at := *b.Place
	at.Free = nil
	for i, d := range k.Market.Dims {
		at.Free = append(at.Free, amount.Entry{Name: d, Value: b.Free[i]})
	}
	out := append(fit.Objections(x.Pod, &at), k.Ledger.Objections(x.Class.Subject, b.Node, b.Place.Name)...)
	if b.Machine == nil && !k.KeepsMinValues(b.Offer, b, x) {
		out = append(out, &reason.Why{Code: reason.MinValues, Subject: b.Place.Name, Detail: "with this pod too few types would do"})
	}
	return out
}
