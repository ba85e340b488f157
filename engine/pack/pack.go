// Package pack puts waiting pods onto machines that are there, on their way, or to be bought.
package pack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/solve"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/world"
)

// Packer holds one packing while it is made.
type Packer struct {
	world    *world.World
	places   []*world.Place // the machines that are there or on their way
	options  Options
	market   *market.Market
	tallies  market.Tallies
	backoffs market.Backoffs
	ledger   *spread.Ledger
	classes  []*class
	old      []*bin // machines there or on their way
	new      []*bin // planned
	steps    int
	lured    int             // pods that were moved for the sake of others
	taken    map[string]bool // names
	limited  bool            // some pool has limits
	secluded bool            // who keeps away from others by domain goes first
	proof    *proof
	useful   market.Set // offers that would host some pod
	needy    bool       // some pods can be hosted by exotic types only
	loose    bool       // what is searched now may use what an earlier search left free, so that search proves nothing of it
	plan     plan.Plan
	left     []*waiting // pods without a place
}

// waiting is a pod and its class.
type waiting struct {
	pod      *world.Pod
	class    *class
	bin      *bin
	held     bool // the scheduler has nominated its place
	kept     bool // it is where the last plan had it
	proven   bool // the bound counts it
	squeezed bool // onto a machine that holds more of its like than spreading means it to
}

// retries is how often pods without a place are tried again with what trimming gave back to limits.
const retries = 4

// Pack decides where the waiting pods of w go.
func Pack(w *world.World, o Options) plan.Plan {
	k := fairly(w, o)
	k.plan.Bound = k.bound()
	if !o.ExactOnly && k.plan.Waiting <= few {
		k = k.orExact()
	}
	k.unstack()
	k.finish()
	return k.plan
}

// manner is how pods take their turns.
type manner struct {
	strictly bool // all of a priority before those of a lower one
	secluded bool // those first who keep away from others by domain
}

// fairly packs the pods, and again strictly by priority if that is fairer.
func fairly(w *world.World, o Options) *Packer {
	strict := manner{strictly: true}
	k := pack(w, o, manner{})
	switch {
	case k.unfair():
		return pack(w, o, strict).seclude(strict)
	case k.usurped():
		if e := pack(w, o, strict); e.fairer(k) {
			return e.seclude(strict)
		}
	}
	return k.seclude(manner{})
}

// few is how many pods are also placed one by one, in case that comes out cheaper.
const few = 200

// orExact returns the packing of the exact tier alone if that is better.
func (k *Packer) orExact() *Packer {
	o := k.options
	o.ExactOnly = true
	e := fairly(k.world, o)
	if len(e.left) > len(k.left) || len(e.left) == len(k.left) && (e.spend() >= k.spend() || k.tooDear(e.price())) {
		return k
	}
	e.plan.Bound, e.steps = e.bound(), e.steps+k.steps
	return e
}

// tooDear reports whether a price is not to be borne for the sake of fewer machines.
func (k *Packer) tooDear(price int64) bool {
	return k.plan.Waiting <= solve.Handful && price > max(k.price(), solve.Bearable(k.plan.Bound))
}

// price is what the planned machines cost.
func (k *Packer) price() int64 {
	sum := int64(0)
	for _, b := range k.new {
		sum += k.market.Offers[b.offer].Expected
	}
	return sum
}

// spend is what the planned machines cost, with the charge for each and what is given up.
func (k *Packer) spend() int64 {
	sum := k.price() + int64(len(k.new))*k.options.charge()
	if k.options.PreferencePolicy == Ignore {
		return sum
	}
	for _, bins := range [][]*bin{k.old, k.new} {
		for _, b := range bins {
			for _, x := range b.pods {
				sum += k.options.regret(k.lost(b, x, nil))
			}
		}
	}
	return sum
}

func newPacker(w *world.World, o Options) *Packer {
	k := &Packer{world: w, places: w.Places(), options: o, ledger: spread.New(w.Namespaces()), taken: map[string]bool{}, backoffs: market.NewBackoffs(w)}
	for _, m := range k.places {
		k.taken[m.Name()] = true
	}
	return k
}

// ready finds out all that placing the pods takes: what is on sale, what
// machines there are, and which of the pods are alike.
func (k *Packer) ready(pods []*world.Pod) {
	names := dims(pods)
	k.tallies = market.NewTallies(k.world.Catalogs(), k.places, pods)
	k.tallies.First = len(names)
	k.market = market.New(k.world, append(names, k.tallies.Names()...), market.Options{SpotPremium: k.options.SpotPremium, LowerMinValues: k.options.MinValuesPolicy == BestEffort})
	k.market.Equip(&k.tallies)
	for _, p := range k.market.Pools {
		k.limited = k.limited || len(p.Limits) > 0
	}
	k.open(pods)
	k.sort(pods)
	k.tuples()
	k.spare()
	k.sift()
	k.hold()
	k.confine()
}

// pack places all pods at once, or those of each priority before those of a lower one, and in each those first who keep away from others.
func pack(w *world.World, o Options, m manner) *Packer {
	k := newPacker(w, o)
	pods := k.admit()
	k.plan.Waiting += len(pods)
	k.ready(pods)
	if !m.strictly {
		k.keep()
	}
	k.proof = k.newProof()
	k.secluded = m.secluded
	k.place(m.strictly)
	k.verify()
	for range retries {
		changed, before := k.trimAll(), len(k.left)
		k.exact()
		if !changed && len(k.left) == before {
			break
		}
		k.verify()
	}
	k.exchange()
	return k
}

// unfair reports whether a pod has no place while one of lower priority uses up limits.
func (k *Packer) unfair() bool {
	if !k.limited || len(k.left) == 0 {
		return false
	}
	highest := slices.MaxFunc(k.left, func(a, b *waiting) int { return cmp.Compare(a.pod.Priority, b.pod.Priority) }).pod.Priority
	for _, b := range k.new {
		if len(k.market.Offers[b.offer].Type.Pool.Limits) == 0 {
			continue
		}
		for _, y := range b.pods {
			if y.pod.Priority >= highest {
				continue
			}
			for _, x := range k.left {
				if x.pod.Priority > y.pod.Priority && x.class.offers.Meets(k.market.Offers[b.offer].Type.Pool.Offers) {
					return true
				}
			}
		}
	}
	return false
}

// admit returns the pods that need a place; those that cannot be planned for get their verdict.
func (k *Packer) admit() []*world.Pod {
	var out []*world.Pod
	refuse := func(p *world.Pod, why *reason.Why) {
		k.plan.Waiting++
		k.plan.Refused = append(k.plan.Refused, plan.Refusal{Pod: p.Key, UID: p.UID, Why: why})
	}
	currencies := k.world.Currencies()
	for _, p := range k.world.Waiting() {
		switch {
		case p.DaemonSet != "" || p.Static || p.Terminating || k.ends(p):
		case p.Gated:
			refuse(p, &reason.Why{Code: reason.Gated, Hint: "whoever set the pod's scheduling gates has to remove them"})
		case len(p.Problems) > 0:
			refuse(p, problems(p))
		case p.Claims:
			refuse(p, &reason.Why{Code: reason.Claims, Detail: "asks for devices by resource claim; no node is bought for such pods", Hint: "ask for the devices as an extended resource, such as nvidia.com/gpu: 1 in resources.limits, or have nodes for the pod there"})
		case p.Nominated == "" && !p.Waiting:
		case len(currencies) > 1:
			refuse(p, &reason.Why{
				Code: reason.Invalid, Detail: fmt.Sprintf("prices are in %q, which cannot be compared", currencies), Hint: "give all catalogues one currency",
			})
		default:
			out = append(out, p)
		}
	}
	for _, m := range k.world.Places() {
		if m.Deleting() {
			for _, p := range m.Pods {
				if moves(p) && !k.stuck(p) && !k.ends(p) {
					out = append(out, p)
				}
			}
		}
	}
	return out
}

func problems(p *world.Pod) *reason.Why {
	if len(p.Problems) == 1 {
		return &reason.Why{Code: reason.Invalid, Detail: p.Problems[0]}
	}
	why := &reason.Why{Code: reason.Invalid}
	for _, x := range p.Problems {
		why.Causes = append(why.Causes, &reason.Why{Code: reason.Invalid, Detail: x})
	}
	return why
}

// ends reports whether a pod is deleted with its namespace.
func (k *Packer) ends(p *world.Pod) bool {
	n := k.world.Namespace(p.Namespace)
	return n != nil && n.Going
}

// stuck reports whether a pod of a machine that goes away cannot be evicted,
// however long one waits: it forbids that, or its budgets never allow it. A
// machine for it would stand empty. Once something has made it leave it waits like any other.
func (k *Packer) stuck(p *world.Pod) bool {
	if p.Terminating {
		return false
	}
	guards := k.world.GuardsOf(p)
	return p.Forbids(k.world.At()) || len(guards) > 1 || slices.ContainsFunc(guards, func(g *world.Guard) bool { return g.Never })
}

// moves reports whether a pod of a machine that goes away needs another place.
func moves(p *world.Pod) bool {
	return p.Moves() && p.Plannable()
}

// dims names the resources that matter: those that a pod asks for.
func dims(pods []*world.Pod) []string {
	var names []string
	var last []string
	for _, p := range pods {
		if len(p.Requests) == len(last) && slices.EqualFunc(p.Requests, last, sameName) {
			continue
		}
		last = last[:0]
		for _, e := range p.Requests {
			last = append(last, e.Name)
			if !slices.Contains(names, e.Name) {
				names = append(names, e.Name)
			}
		}
	}
	return ordered(names)
}

// open enters the machines that are there or on their way, and the pods they run, into the ledger.
func (k *Packer) open(pods []*world.Pod) {
	for _, p := range pods {
		if len(p.Spread)+len(p.PodTerms) > 0 {
			k.ledger.Enlist(p)
		}
	}
	k.ledger.Share(pods)
	var averse []*world.PodTerm
	for _, m := range k.places {
		averse = append(averse, m.Averse()...)
	}
	k.ledger.Watch(averse, pods)
	for _, m := range k.places {
		if m.Node == nil && (m.Claim.Failed || m.Claim.Deleting) {
			continue
		}
		at := fit.Of(k.world, m)
		b := &bin{machine: m, place: &at, node: k.ledger.Enter(&at), offer: -1, free: make([]int64, len(k.market.Dims))}
		for i, d := range k.market.Dims {
			b.free[i] = at.Free.Value(d)
		}
		k.tallies.Room(&at, b.free)
		k.inhabit(m, b.node)
		k.old = append(k.old, b)
	}
	slices.SortStableFunc(k.old, func(a, b *bin) int {
		if x, y := a.machine.Whole(), b.machine.Whole(); x != y {
			if x {
				return -1
			}
			return 1
		}
		return strings.Compare(a.place.Name, b.place.Name)
	})
}

// inhabit enters the pods that run on a machine, as far as they stay there.
func (k *Packer) inhabit(m *world.Place, node int) {
	switch {
	case !k.ledger.Counts():
	case !m.Deleting():
		k.ledger.Inhabit(m, node)
	default:
		for _, p := range m.Pods {
			if !moves(p) || k.stuck(p) || k.ends(p) {
				k.ledger.Run(p, node)
			}
		}
	}
}

// tuples finds which offers the ledger cannot tell apart, so that one of them
// answers for all and a planned machine may become another of them.
func (k *Packer) tuples() {
	if !k.ledger.Counts() {
		return
	}
	keys := slices.DeleteFunc(slices.Clone(k.ledger.Keys()), func(key string) bool { return key == label.Hostname })
	choosy := k.ledger.Choosy()
	known := map[string]int{}
	var b []byte
	for i := range k.market.Offers {
		o := &k.market.Offers[i]
		b = b[:0]
		for _, key := range keys {
			v := o.Zone
			if key != label.Zone {
				v = k.market.At(i).Labels[key]
			}
			b = label.AppendText(b, v)
		}
		if choosy {
			b = k.ledger.AppendCover(b, k.market.At(i))
		}
		n, ok := known[string(b)]
		if !ok {
			n = len(known)
			known[string(b)] = n
		}
		o.Tuple = n
	}
}

// hold puts the pods that the scheduler has nominated where it wants them, and
// those of machines that stay where they run.
func (k *Packer) hold() {
	byName := map[string]*bin{}
	for i, b := range k.old {
		b.number = i
		byName[b.place.Name] = b
	}
	for _, c := range k.classes {
		for _, p := range c.pods {
			x := &waiting{pod: p, class: c}
			b := byName[p.Nominated]
			if p.Node != "" {
				b = byName[p.Node]
			}
			if b != nil && !b.place.Deleting && !p.Promised {
				x.held = true
				k.join(b, x)
				continue
			}
			k.left = append(k.left, x)
		}
	}
}

// place gives every pod a place, as far as there is one.
func (k *Packer) place(strictly bool) {
	all := k.left
	sortWaiting(all)
	var homeless []*waiting
	for len(all) > 0 {
		n := len(all)
		for strictly && n > 0 && all[n-1].pod.Priority != all[0].pod.Priority {
			n--
		}
		k.left = slices.Clone(all[:n])
		all = all[n:]
		if k.secluded {
			k.settleRecluses()
		}
		if !k.options.ExactOnly {
			k.fillOld()
			if k.needy {
				k.searchNeedy()
			}
			k.search()
			k.loose = true
		}
		k.exact()
		homeless = append(homeless, k.left...)
	}
	if k.left = homeless; strictly {
		k.exact()
	}
}

// sortWaiting puts pods into the order in which they are placed.
func sortWaiting(pods []*waiting) {
	slices.SortStableFunc(pods, func(a, b *waiting) int {
		return cmp.Or(
			cmp.Compare(a.class.number, b.class.number),
			strings.Compare(a.pod.Namespace, b.pod.Namespace),
			strings.Compare(a.pod.Name, b.pod.Name),
		)
	})
}
