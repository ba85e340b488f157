// Package estimate says what decisions would have come to that were made of the same Worlds as others and not carried out.
package estimate

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/web/live"
)

// Day is what the decisions of some time came to, and what they would have come to as they are made now. Each is made of
// the World as it was, so what they would have changed of the Worlds after them is estimated: a machine that would
// not have been bought, or another one, counts for as long as the pods that it was bought for are there, and one that
// would have been given back for as long as it was there. Money is in units of the currency.
type Day struct {
	From     int64    `json:"from"`
	Until    int64    `json:"until"`
	Currency string   `json:"currency"`
	Recorded Side     `json:"recorded"`
	Replayed Side     `json:"replayed"`
	Days     []OneDay `json:"days"`  // UTC
	Curve    []Moment `json:"curve"` // at most 2,000 moments
}

// Side is what one way of deciding comes to.
type Side struct {
	Cost      float64 `json:"cost"`           // of the machines that are counted
	Bought    int     `json:"bought"`         // machines asked for
	Hourly    float64 `json:"boughtHourly"`   // what these cost an hour
	GivenBack int     `json:"givenBack"`      // machines
	Moved     int     `json:"moved"`          // pods that commands moved
	Needed    int     `json:"neededMachine"`  // pods that machines were asked for
	Refused   int     `json:"refused"`        // pods that were refused at some time
	Waited    int64   `json:"refusedSeconds"` // for how long, all of them together
}

// OneDay is what both come to on a day.
type OneDay struct {
	Day      string  `json:"day"`
	Recorded float64 `json:"recordedCost"`
	Replayed float64 `json:"replayedCost"`
}

// Moment is how both stand from a moment on.
type Moment struct {
	At       int64   `json:"at"`
	Recorded float64 `json:"recordedPrice"` // an hour
	Replayed float64 `json:"replayedPrice"`
	Saved    float64 `json:"saved"` // since the beginning
	Refuses  [2]int  `json:"refused"`
	Moved    [2]int  `json:"moved"` // since the beginning
}

// mostMoments is how many moments are shown.
const mostMoments = 2000

// way is one way of deciding while it is looked at.
type way struct {
	Side

	hourly  money.Micro
	bought  map[string]bool // pods that machines were bought for
	static  map[world.PoolID]int
	back    map[string]bool // claims of machines that were given back
	refused map[string]bool // pods, ever
	now     int             // pods that are refused by the last decision
}

func newWay() *way {
	return &way{bought: map[string]bool{}, static: map[world.PoolID]int{}, back: map[string]bool{}, refused: map[string]bool{}}
}

// apart is by how much an hour the other way differs, for as long as something lasts.
type apart struct {
	price  money.Micro
	pods   []world.Key // while one of them is there; none: while the claims are, or for good
	uids   map[world.Key]string
	claims []string // of machines that were given back, or would have been
	after  bool     // once these are gone
	gives  bool     // they would not have been given back: until they would be
	waits  bool     // for the machines to be gone
}

// Estimate looks at decisions, the oldest first. It keeps no World.
type Estimate struct {
	out   Day
	tally live.Tally
	ways  [2]*way // recorded and replayed
	apart []apart
	days  map[string]*OneDay

	looked  int
	skipped int
	all     bool // machines without a claim count as well
	price   money.Micro
}

// New returns an Estimate of nothing yet.
func New() *Estimate {
	return &Estimate{out: Day{Days: []OneDay{}, Curve: []Moment{}}, ways: [2]*way{newWay(), newWay()}, days: map[string]*OneDay{}}
}

// Add takes over a decision that was made twice.
func (d *Estimate) Add(e journal.Entry, again plan.Plan) {
	w, at := e.World, e.World.At()
	if d.looked > 0 && at < d.out.Until {
		d.skipped++
		return
	}
	if d.looked == 0 {
		d.out.From, d.out.Until, d.out.Currency = at, at, live.Currency(w)
		d.all = CountsAll(e)
	}
	d.looked++
	d.pay(at)
	d.out.Until = at
	d.look(w)
	d.end(w, again)
	sides := [2]plan.Plan{e.Plan, again}
	if e.Kind == journal.Buy {
		for i, p := range sides {
			d.ways[i].refuse(p)
		}
	}
	d.buy(w, sides)
	d.giveBack(w, sides)
	d.out.Curve = append(d.out.Curve, d.moment(at))
}

// look adds up what machines cost now.
func (d *Estimate) look(w *world.World) {
	d.tally.Of(w) // which learns the prices
	d.price = 0
	for _, p := range w.Places() {
		if p.Claim != nil || d.all {
			price, _ := d.tally.Price(w, p)
			d.price += price
		}
	}
}

// CountsAll reports whether all machines count by their price, and not those with a claim alone: the first decision is
// that of a shadow, and no claim is there, as beside an autoscaler of another kind.
func CountsAll(first journal.Entry) bool {
	all := first.World.Places()
	return first.Shadow && len(all) > 0 && !slices.ContainsFunc(all, func(p *world.Place) bool { return p.Claim != nil })
}

// Price is what machines cost an hour since the last decision, and what they would.
func (d *Estimate) Price() (is, would money.Micro) { return d.price, d.other() }

// other is what machines would cost now.
func (d *Estimate) other() money.Micro {
	sum := d.price
	for _, a := range d.apart {
		if !a.waits {
			sum += a.price
		}
	}
	return max(sum, 0)
}

// pay counts what was paid since the last look, day by day.
func (d *Estimate) pay(until int64) {
	for from := d.out.Until; from < until; {
		midnight := time.Unix(from, 0).UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Unix()
		to := min(until, midnight)
		name := time.Unix(from, 0).UTC().Format(time.DateOnly)
		if d.days[name] == nil {
			d.days[name] = &OneDay{Day: name}
		}
		hours := float64(to-from) / 3600
		d.days[name].Recorded += d.price.Units() * hours
		d.days[name].Replayed += d.other().Units() * hours
		d.ways[0].Cost += d.price.Units() * hours
		d.ways[1].Cost += d.other().Units() * hours
		for _, x := range d.ways {
			x.Waited += int64(x.now) * (to - from)
		}
		from = to
	}
}

func (d *Estimate) moment(at int64) Moment {
	return Moment{
		At: at, Recorded: d.price.Units(), Replayed: d.other().Units(), Saved: d.ways[0].Cost - d.ways[1].Cost,
		Refuses: [2]int{d.ways[0].now, d.ways[1].now}, Moved: [2]int{d.ways[0].Moved, d.ways[1].Moved},
	}
}

// end forgets differences that last no longer.
func (d *Estimate) end(w *world.World, again plan.Plan) {
	there := map[string]bool{}
	for _, p := range w.Places() {
		if p.Claim != nil {
			there[p.Claim.Name] = true
		}
	}
	stands := func(name string) bool { return there[name] }
	for i := range d.apart {
		d.apart[i].waits = d.apart[i].after && slices.ContainsFunc(d.apart[i].claims, stands)
	}
	d.apart = slices.DeleteFunc(d.apart, func(a apart) bool {
		switch {
		case a.gives && slices.ContainsFunc(again.Commands, func(c plan.Command) bool {
			return c.Verdict != plan.TakeBack && slices.ContainsFunc(c.Back, func(g plan.Give) bool { return slices.Contains(a.claims, g.Claim) })
		}):
			return true
		case len(a.pods) > 0:
			return !slices.ContainsFunc(a.pods, func(k world.Key) bool {
				p := w.Pod(k)
				return p != nil && !p.Done && p.UID == a.uids[k]
			})
		case len(a.claims) > 0 && !a.after:
			return !slices.ContainsFunc(a.claims, stands)
		}
		return false
	})
}

// lasting is a difference for as long as pods are there.
func lasting(w *world.World, price money.Micro, pods []world.Key) apart {
	a := apart{price: price, uids: map[world.Key]string{}}
	for _, k := range pods {
		if p := w.Pod(k); p != nil {
			a.pods, a.uids[k] = append(a.pods, k), p.UID
		}
	}
	return a
}

// refuse counts the pods that a plan refuses.
func (x *way) refuse(p plan.Plan) {
	x.now = 0
	for _, r := range p.Refused {
		if r.Why != nil && r.Why.Code == reason.Gated {
			continue
		}
		x.now++
		x.refused[r.UID+" "+r.Pod.String()] = true
	}
}

// fresh are the machines of a plan that are not asked for again and again until they are there.
func (x *way) fresh(w *world.World, p plan.Plan) (out []plan.Ask) {
	pools := map[world.PoolID]int{}
	for _, a := range p.New {
		if len(a.Pods) == 0 {
			if pools[a.Pool]++; pools[a.Pool] > x.static[a.Pool] {
				out = append(out, a)
			}
			continue
		}
		known := false
		for _, k := range a.Pods {
			id := k.String()
			if pod := w.Pod(k); pod != nil {
				id = pod.UID + " " + id
			}
			known = known || x.bought[id]
			x.bought[id] = true
		}
		if !known {
			out = append(out, a)
		}
	}
	for _, s := range p.Static {
		x.static[s.Pool] = pools[s.Pool]
	}
	return out
}

// buy compares what both ask for.
func (d *Estimate) buy(w *world.World, sides [2]plan.Plan) {
	var prices [2]money.Micro
	var pods []world.Key
	for i, p := range sides {
		for _, a := range d.ways[i].fresh(w, p) {
			prices[i] += a.Price
			d.ways[i].Bought++
			d.ways[i].hourly += a.Price
			pods = append(pods, a.Pods...)
		}
	}
	if prices[0] != prices[1] {
		d.apart = append(d.apart, lasting(w, prices[1]-prices[0], pods))
	}
}

// unit is machines that go together, and what that comes to.
type unit struct {
	plan.Command

	saves money.Micro
	pods  []world.Key
}

// units are the commands of a plan about machines that were not given back yet, by their claims.
func (x *way) units(p plan.Plan) map[string]unit {
	out := map[string]unit{}
	for _, c := range p.Commands {
		claims := c.Claims()
		if c.Verdict != plan.Begin && c.Verdict != plan.CarryOn || len(claims) == 0 || slices.ContainsFunc(claims, func(n string) bool { return x.back[n] }) {
			continue
		}
		u := unit{Command: c}
		for _, g := range c.Back {
			u.saves += g.Price
			x.back[g.Claim] = true
		}
		for _, a := range c.New {
			u.saves -= a.Price
			u.pods = append(u.pods, a.Pods...)
			x.hourly += a.Price
		}
		for _, m := range c.Moves {
			u.pods = append(u.pods, m.Pods...)
		}
		x.Bought += len(c.New)
		x.GivenBack += len(c.Back)
		if !c.Idle() {
			x.Moved += c.Pods
		}
		slices.Sort(claims)
		out[strings.Join(claims, " ")] = u
	}
	return out
}

// giveBack compares what both give back.
func (d *Estimate) giveBack(w *world.World, sides [2]plan.Plan) {
	was, is := d.ways[0].units(sides[0]), d.ways[1].units(sides[1])
	for _, id := range slices.Sorted(maps.Keys(is)) {
		u := is[id]
		if before, both := was[id]; both {
			if before.saves != u.saves {
				a := lasting(w, before.saves-u.saves, append(before.pods, u.pods...))
				a.claims, a.after, a.waits = u.Claims(), true, true
				d.apart = append(d.apart, a)
			}
			continue
		}
		if gone := slices.ContainsFunc(u.Back, func(g plan.Give) bool { return !d.ways[0].back[g.Claim] }); gone {
			d.apart = append(d.apart, apart{price: -u.saves, claims: u.Claims()})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(was)) {
		u := was[id]
		if _, both := is[id]; both {
			continue
		}
		if kept := slices.ContainsFunc(u.Back, func(g plan.Give) bool { return !d.ways[1].back[g.Claim] }); kept {
			a := lasting(w, u.saves, u.pods)
			a.claims, a.after, a.waits, a.gives = u.Claims(), true, true, true
			d.apart = append(d.apart, a)
		}
	}
}

// Skipped is how many decisions are older than one before them, and are in no sum.
func (d *Estimate) Skipped() int { return d.skipped }

// Day is what came of it.
func (d *Estimate) Day() Day {
	out := d.out
	for i, to := range []*Side{&out.Recorded, &out.Replayed} {
		x := d.ways[i]
		*to = x.Side
		to.Hourly, to.Needed, to.Refused = x.hourly.Units(), len(x.bought), len(x.refused)
	}
	for _, one := range slices.SortedFunc(maps.Values(d.days), func(a, b *OneDay) int { return cmp.Compare(a.Day, b.Day) }) {
		out.Days = append(out.Days, *one)
	}
	if n := len(out.Curve); n > mostMoments {
		var some []Moment
		for i := range mostMoments {
			some = append(some, out.Curve[i*(n-1)/(mostMoments-1)])
		}
		out.Curve = some
	}
	return out
}
