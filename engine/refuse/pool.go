package refuse

import (
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// poolWhy is everything a pool has against buying a machine for the pod.
func (k *refuser) poolWhy(p *world.Pool, x *packing.Pod) *reason.Why {
	name := p.ID.Kind + " " + p.ID.Name
	i := slices.IndexFunc(k.Market.Pools, func(c *market.Pool) bool { return c.Pool == p })
	switch {
	case p.Deleting:
		return &reason.Why{Code: reason.Deleting, Subject: name}
	case p.NotReady != "":
		return &reason.Why{Code: reason.NotReady, Subject: name, Detail: p.NotReady}
	case p.Replicas != nil:
		return &reason.Why{Code: reason.NoPool, Subject: name, Detail: "is static: it keeps its number of nodes and grows for no pod"}
	case i < 0:
		return &reason.Why{Code: reason.NotReady, Subject: name, Detail: "nothing is known of the machines it may buy"}
	}
	return underOne(name, k.poolCauses(k.Market.Pools[i].Filled(), x))
}

// underOne puts several causes under one head, and leaves a single one as it is.
func underOne(subject string, causes []*reason.Why) *reason.Why {
	if len(causes) == 1 {
		causes[0].Subject = subject
		return causes[0]
	}
	return &reason.Why{Code: reason.NoPlace, Subject: subject, Causes: causes}
}

func (k *refuser) poolCauses(p *market.Pool, x *packing.Pod) []*reason.Why {
	var causes []*reason.Why
	for _, t := range fit.Untolerated(x.Pod.Tolerations, p.Taints) {
		causes = append(causes, &reason.Why{
			Code: reason.Taint, Detail: "did not tolerate " + fit.TaintText(t), Hint: "add a toleration for " + fit.TaintText(t) + " to the pod",
			About: reason.About{Key: t.Key, Value: t.Value, Effect: t.Effect},
		})
	}
	causes = append(causes, labelWhys(p, x.Pod)...)
	if len(causes) > 0 {
		return causes
	}
	if b := k.Backoffs.Of(x.Pod.Key, p.Pool); b != nil {
		return []*reason.Why{market.BackoffWhy(b, k.World.At())}
	}
	if !x.Class.Offers.Meets(p.Offers) {
		return []*reason.Why{k.shapeWhy(p, x)}
	}
	return k.boughtOut(p, x)
}

// labelWhys are the demands of the pod that no machine of the pool can meet because of the pool's own demands or labels.
func labelWhys(p *market.Pool, pod *world.Pod) []*reason.Why {
	var out []*reason.Why
	one := func(t world.NodeTerm) []*reason.Why {
		switch {
		case len(t.Labels) == 0 && t.Name == nil:
			return []*reason.Why{{Code: reason.Label, Detail: "an empty node affinity term accepts no node"}}
		case t.Name != nil && !t.Name.Not:
			return []*reason.Why{{Code: reason.Label, Detail: "asks for the node " + strings.Join(t.Name.Values, " or ") + ", which no new node is called"}}
		}
		var all []*reason.Why
		for _, r := range t.Labels {
			if w := labelWhy(p, r); w != nil {
				all = append(all, w)
			}
		}
		return all
	}
	reached := func(t world.NodeTerm) []*reason.Why { // a volume stays where it is
		for _, r := range t.Labels {
			if w := labelWhy(p, r); w != nil {
				if w.Hint = "let the pool offer " + strings.Join(r.Values, ", "); r.Key == label.Hostname {
					w.Hint = "the disk was on that node: if it is gone for good, delete the claim of the volume"
				}
				return []*reason.Why{w}
			}
		}
		return nil
	}
	for _, d := range fit.Demands(pod) {
		switch {
		case d.Volume != nil:
			for _, w := range anyOf(d.Alternatives(), "volume "+d.Volume.ID, reached) {
				w.Code = reason.Volume
				if len(w.Causes) == 0 {
					w.Detail = d.Volume.ID + ": " + w.Detail
				}
				out = append(out, w)
			}
		case d.Selector != nil:
			for _, r := range d.Selector {
				if w := labelWhy(p, r); w != nil {
					out = append(out, w)
				}
			}
		default:
			out = append(out, anyOf(d.Alternatives(), "node affinity", one)...)
		}
	}
	return out
}

// anyOf objects if there are alternatives and all of them are objected to. What is against one of several stands together.
func anyOf[T any](alternatives []T, what string, object func(T) []*reason.Why) []*reason.Why {
	var causes []*reason.Why
	for _, a := range alternatives {
		all := object(a)
		switch {
		case len(all) == 0:
			return nil
		case len(all) > 1 && len(alternatives) > 1:
			causes = append(causes, &reason.Why{Code: reason.Label, Detail: "one alternative of its " + what, Causes: all})
		default:
			causes = append(causes, all...)
		}
	}
	if len(alternatives) < 2 {
		return causes
	}
	return []*reason.Why{{Code: reason.Label, Detail: "none of the alternatives of its " + what, Causes: causes}}
}

// labelWhy objects if the pool itself keeps its nodes from meeting r.
func labelWhy(p *market.Pool, r label.Requirement) *reason.Why {
	q, asked := p.Requirements.Find(r.Key)
	v, fixed := p.Fixed(r.Key)
	clash := label.Clash{Want: r, Offer: q}
	why := &reason.Why{Code: reason.Label}
	switch {
	case fixed && !r.Has(v):
		clash.Offer = label.Is(r.Key, v)
		if r.Op() == label.DoesNotExist && (r.Key == label.NodePool || r.Key == label.Provisioner) {
			why.Hint = "this forbids nodes of any pool: leave it so if that is meant, as for the controller's own pods, or take it off the pod"
		}
	case fixed:
		return nil
	case asked && p.Known[r.Key] && (q.Meets(r) || q.Negative() && r.Negative()):
		return nil
	case asked && !p.Known[r.Key] && market.Settles(q, r):
		return nil
	case asked && q.Meets(r):
		return &reason.Why{Code: reason.Label, Detail: clash.Want.String() + ": the pool leaves the value open", Hint: "name the value in the pool's labels or in the pod"}
	case asked:
		if len(q.Values) > 0 && !q.Not {
			why.Hint = otherValueHint(p, r, q.Values)
		}
	case p.Known[r.Key] || r.Negative() || r.Key == label.Hostname && r.Any():
		return nil
	case r.Key == label.Hostname && len(r.Values) > 0:
		why.Detail = "asks for the node " + strings.Join(r.Values, " or ") + ", which no new node is called"
		return why
	default:
		clash.Unknown = true
		why.Hint = "add the label to the pool, or take the demand off the pod"
		if near := near(p, r.Key); near != "" {
			why.Hint = "did you mean " + near + "?"
		}
	}
	why.Detail, why.About.Clash = clash.String(), &clash
	return why
}

// otherValueHint says what to do about a value that the pool does not offer: write it as it is spelled, take one that the pool
// offers, or have the pool offer it.
func otherValueHint(p *market.Pool, r label.Requirement, offered []string) string {
	sold := offeredValues(p, r.Key)
	if r.Not || len(r.Values) != 1 || slices.Contains(sold, r.Values[0]) {
		return useHint(offered) + ", or let the pool offer " + strings.Join(r.Values, ", ")
	}
	meant := label.Meant(r.Values[0], append(slices.Clone(sold), offered...))
	switch {
	case meant == "":
		return useHint(offered)
	case slices.Contains(offered, meant):
		return "did you mean " + meant + "?"
	default:
		return "did you mean " + meant + "? Let the pool offer it, or " + useHint(offered)
	}
}
