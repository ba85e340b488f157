package pack

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// absurd is a number of cores that nobody means.
const absurd = 1_000_000 * amount.Unit

const coresHint = "write thousandths of a core with an m: 500m is half a core"

// refuser says what is against pods. The packing is what it will be.
type refuser struct {
	*packing.Packing
	against map[*packing.Demands]map[*packing.Bin]string // kinds of objection
}

// refusals say of every pod without a place why it has none.
func refusals(p *packing.Packing) []plan.Refusal {
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

// nodeWhys is what the machines that are there, on their way or planned have against the pod.
func nodeWhys(p *packing.Packing, x *packing.Pod) []*reason.Why {
	return (&refuser{p, map[*packing.Demands]map[*packing.Bin]string{}}).nodeWhys(x)
}

// why collects everything that machines and pools have against the pod.
func (k *refuser) why(x *packing.Pod) *reason.Why {
	why := &reason.Why{Code: reason.NoPlace, Causes: contrary(x.Pod)}
	if len(why.Causes) > 0 {
		return why
	}
	if cores := x.Pod.Requests.Value(amount.CPU); cores >= absurd && cores < math.MaxInt64 {
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
	return gather(name, k.poolCauses(k.Market.Pools[i], x))
}

// gather puts several causes under one head, and leaves a single one as it is.
func gather(subject string, causes []*reason.Why) *reason.Why {
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
	one := func(s label.Set) *reason.Why {
		for _, r := range s {
			if w := labelWhy(p, r); w != nil {
				return w
			}
		}
		return nil
	}
	reached := func(s label.Set) *reason.Why { // a volume stays where it is
		for _, r := range s {
			if w := labelWhy(p, r); w != nil {
				w.Hint = "let the pool offer " + strings.Join(r.Values, ", ")
				return w
			}
		}
		return nil
	}
	for _, r := range pod.NodeSelector {
		if w := labelWhy(p, r); w != nil {
			out = append(out, w)
		}
	}
	out = append(out, anyOf(pod.NodeTerms, "node affinity", func(t world.NodeTerm) *reason.Why {
		switch {
		case len(t.Labels) == 0 && t.Name == nil:
			return &reason.Why{Code: reason.Label, Detail: "an empty node affinity term accepts no node"}
		case t.Name != nil && !t.Name.Not:
			return &reason.Why{Code: reason.Label, Detail: "asks for the node " + strings.Join(t.Name.Values, " or ") + ", which no new node is called"}
		}
		return one(t.Labels)
	})...)
	for _, v := range pod.Volumes {
		for _, w := range anyOf(v.Places, "volume "+v.ID, reached) {
			w.Code = reason.Volume
			if len(w.Causes) == 0 {
				w.Detail = v.ID + ": " + w.Detail
			}
			out = append(out, w)
		}
	}
	return out
}

// anyOf objects if there are alternatives and all of them are objected to.
func anyOf[T any](alternatives []T, what string, object func(T) *reason.Why) []*reason.Why {
	var causes []*reason.Why
	for _, a := range alternatives {
		w := object(a)
		if w == nil {
			return nil
		}
		causes = append(causes, w)
	}
	if len(causes) < 2 {
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
	case p.Known[r.Key] || r.Negative():
		return nil
	default:
		clash.Unknown = true
		why.Hint = "add the label to the pool, or take the demand off the pod"
		if near := near(p, r.Key); near != "" {
			why.Hint = "did you mean " + near + "?"
		}
	}
	why.Detail = clash.String()
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

// useHint offers the values that would do.
func useHint(offered []string) string {
	const most = 6
	switch more := len(offered) - most; {
	case len(offered) == 1:
		return "use " + offered[0]
	case more > 1:
		return fmt.Sprintf("use one of %s and %d more", strings.Join(offered[:most], ", "), more)
	default:
		return "use one of " + strings.Join(offered, ", ")
	}
}

// meantHint asks whether the one value that is asked for is a slip; empty if it looks like none.
func meantHint(r label.Requirement, offered []string) string {
	if r.Not || len(r.Values) != 1 {
		return ""
	}
	if meant := label.Meant(r.Values[0], offered); meant != "" {
		return "did you mean " + meant + "?"
	}
	return ""
}

// near returns a label of the pool that looks like key; empty if none does.
func near(p *market.Pool, key string) string {
	known := slices.Collect(maps.Keys(p.Known))
	known = slices.AppendSeq(known, maps.Keys(p.Labels))
	for _, r := range p.Requirements {
		known = append(known, r.Key)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	last := lastPart(key)
	for _, k := range known {
		if lastPart(k) == last {
			return k
		}
	}
	if meant := label.Meant(key, known); meant != "" {
		return meant
	}
	const telling = 4 // letters that do not occur in another key by chance
	for _, k := range known {
		if len(last) >= telling && strings.Contains(lastPart(k), last) {
			return k
		}
	}
	return ""
}

// lastPart is a label's key without its domain.
func lastPart(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

// looks is how many machines are asked at most whether they would keep minValues, which is slow to tell.
const looks = 8

// boughtOut says why none of the machines that would do can be bought for the pod now.
func (k *refuser) boughtOut(p *market.Pool, x *packing.Pod) []*reason.Why {
	var causes []*reason.Why
	add := func(w *reason.Why) {
		if w == nil {
			return
		}
		if !slices.ContainsFunc(causes, func(c *reason.Why) bool { return c.Code == w.Code && c.Detail == w.Detail }) {
			causes = append(causes, w)
		}
	}
	var limits blocked
	looked, objected, affordable := 0, false, false
	for i := range x.Class.Offers.All {
		if !p.Offers.Has(i) {
			continue
		}
		t := k.Market.Offers[i].Type
		if objected && k.within(x, i) {
			continue // and affordable, as the one of which the objections were said
		}
		if s, over := p.Over(t); over {
			objections := k.Ledger.ObjectionsNew(x.Class.Subject, k.Market.At(i))
			if len(limits.names) == 0 {
				limits.besides = objections
			}
			limits.add(s, len(objections) == 0 && packing.Extras(x.Pod, k.Market.At(i)))
			continue
		}
		affordable = true
		if q := k.Market.Offers[i].Quota; q >= 0 && k.Market.Quotas[q].Left <= 0 {
			add(&reason.Why{Code: reason.Reservation, Detail: k.Market.Quotas[q].ID + " is used up"})
			continue
		}
		objections := k.Ledger.ObjectionsNew(x.Class.Subject, k.Market.At(i))
		objected = true
		for _, w := range objections {
			w.Subject = ""
			add(w)
		}
		if !packing.Extras(x.Pod, k.Market.At(i)) {
			for _, rule := range []fit.Rule{fit.Ports, fit.Attach} {
				if w := rule(x.Pod, k.Market.At(i)); w != nil {
					w.Subject = t.Shape.Name
					add(w)
				}
			}
		}
		if looked == looks || len(objections) > 0 && looked > 0 {
			continue
		}
		if looked++; k.KeepsMinValues(i, nil, x) {
			continue
		}
		looked = looks
		for _, r := range k.LackingValues(i, nil, x) {
			add(valuesWhy(p, r))
		}
	}
	if !affordable {
		for _, w := range limits.besides {
			w.Subject = ""
			add(w)
		}
	}
	if name, least, only := limits.first(); name != "" && (only || !affordable) {
		add(k.limitWhy(p, name, least))
	}
	return causes
}

// blocked are the limits that bar machines, and the least that a machine behind each of them counts: of those that would
// do but for the limit, and of all.
type blocked struct {
	names     []string
	only, all map[string]int64
	besides   []*reason.Why // what else is against the first of the machines
}

// add notes a machine that a limit bars, and whether nothing else is against it.
func (b *blocked) add(s amount.Shortage, only bool) {
	if b.all == nil {
		b.only, b.all = map[string]int64{}, map[string]int64{}
	}
	note := func(least map[string]int64) {
		if v, ok := least[s.Name]; !ok || s.Wants < v {
			least[s.Name] = s.Wants
		}
	}
	if _, ok := b.all[s.Name]; !ok {
		b.names = append(b.names, s.Name)
	}
	note(b.all)
	if only {
		note(b.only)
	}
}

// first is the first limit that is all there is against some machine, or else the first limit.
func (b *blocked) first() (name string, least int64, only bool) {
	for _, name := range b.names {
		if v, ok := b.only[name]; ok {
			return name, v, true
		}
	}
	if len(b.names) == 0 {
		return "", 0, false
	}
	return b.names[0], b.all[b.names[0]], false
}

// valuesWhy says how few values are left of a requirement.
func valuesWhy(p *market.Pool, left label.Requirement) *reason.Why {
	want, _ := p.Requirements.Find(left.Key)
	are := "values are"
	if left.Least == 1 {
		are = "value is"
	}
	return &reason.Why{
		Code: reason.MinValues, Detail: fmt.Sprintf("%s: %d %s left, minValues wants %d", left.Key, left.Least, are, want.Least),
		Hint: "lower minValues, or use the BestEffort policy",
	}
}

// within reports whether the offer differs from others of its domain in size only, so that its objections were said.
func (k *refuser) within(x *packing.Pod, i int) bool {
	return k.Market.OnSale(i) && !slices.Contains(x.Class.Reach, i) && x.Class.Subject != nil && !k.Market.Offers[i].Type.Pool.HasMinValues &&
		len(x.Pod.Ports) == 0 && !packing.Attaches(x.Pod)
}

// limitWhy tells a limit that is in the way, how much of it is used, and the least that a machine behind it counts.
func (k *refuser) limitWhy(p *market.Pool, name string, least int64) *reason.Why {
	limit, left := p.Limits.Value(name), p.Left.Value(name)
	why := &reason.Why{
		Code:   reason.Limit,
		Detail: fmt.Sprintf("%s: limit %s, used %s, a node would need %s", name, amount.Text(name, limit), amount.Text(name, amount.Plus(limit, -left)), amount.Text(name, least)),
		Hint:   fmt.Sprintf("raise limits.%s of %s %s to at least %s", name, p.ID.Kind, p.ID.Name, amount.Text(name, amount.Plus(limit, least-left))),
	}
	if nodes, held := k.heldByLost(p, name); held > 0 && amount.Plus(left, held) >= least {
		why.Hint = fmt.Sprintf("%s that cannot be used any more %s %s of it until gone: wait for that, or %s",
			amount.Count(nodes, "node"), hold(nodes), amount.Text(name, held), why.Hint)
	}
	return why
}

// heldByLost is how much of a limit nodes hold that take no pods any more: those that are being deleted, and those that were
// complete and are not ready.
func (k *refuser) heldByLost(p *market.Pool, name string) (nodes int, held int64) {
	var sum amount.Total
	for _, at := range k.World.Places() {
		lost := at.Node != nil && !at.Node.Ready && at.Claim != nil && at.Claim.Initialized
		if at.Pool() == p.ID && (at.Deleting() || lost) {
			nodes++
			market.Count(&sum, market.Capacity(at))
		}
	}
	return nodes, sum.List().Value(name)
}

func hold(n int) string {
	if n == 1 {
		return "holds"
	}
	return "hold"
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
