package refuse

import (
	"fmt"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/reason"
)

// Nodes is what the machines that are there, on their way or planned have against the pod.
func Nodes(p *packing.Packing, x *packing.Pod) []*reason.Why {
	return newRefuser(p).nodeWhys(x)
}

// nodeWhys is what the machines that are there, on their way or planned have
// against the pod; machines with the same objections are grouped.
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
	for i, rule := range fit.Extras() {
		if !rule.Permits(x.Pod, b.Place) {
			codes += string(rune('P' + i))
		}
	}
	if !k.Ledger.Allows(x.Class.PodInfo, b.Node) {
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
			if !rule.Permits(s.Pod, b.Place) {
				codes += string(rune('0' + i))
			}
		}
		if len(s.Pod.Devices) > 0 { // how many they are is part of what is said
			codes += fmt.Sprintf("d%d,%d", len(b.Place.Devices), len(b.Place.DevicesLost))
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
	out := append(fit.Objections(x.Pod, &at), k.Ledger.Objections(x.Class.PodInfo, b.Node, b.Place.Name)...)
	if b.Machine == nil && !k.KeepsMinValues(b.Offer, b, x) {
		out = append(out, &reason.Why{Code: reason.MinValues, Subject: b.Place.Name, Detail: "with this pod too few types would do"})
	}
	return out
}
