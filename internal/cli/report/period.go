package report

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cli/estimate"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/web/live"
)

// Period is what was over the time that decisions cover. Money is in units of the currency.
type Period struct {
	Format    string  `json:"format"`
	From      int64   `json:"from"`
	Until     int64   `json:"until"`
	Decisions int     `json:"decisions"`
	Currency  string  `json:"currency"`
	Cost      float64 `json:"cost"`     // of the nodes of pools, over the whole time
	OnDemand  float64 `json:"onDemand"` // what the same would have cost on demand
	Bought    int     `json:"bought"`   // claims that came
	// Ended are the claims that went, by why: "" where no decision of the journal says it, as after an interruption or a deletion by hand.
	Ended map[string]int `json:"ended"`
	// Interrupted are those of them that the cloud announced to take or to end.
	Interrupted int     `json:"interrupted"`
	Moved       int     `json:"moved"`            // pods that decisions had moved
	Shadow      *Shadow `json:"shadow,omitempty"` // the decisions are those of a shadow: what they would have come to
	Waits       Waits   `json:"waits"`
	Rows        []Row   `json:"rows"`
	Curve       []Point `json:"curve"`
}

// Waits are how long pods waited for a node, in seconds from when they were created until they started.
type Waits struct {
	Pods    int   `json:"pods"`
	Median  int64 `json:"median"`
	Most95  int64 `json:"p95"` // of twenty, nineteen waited no longer
	Longest int64 `json:"longest"`
	Waiting int   `json:"waiting"` // at the end still
}

// Row is a pool on a day.
type Row struct {
	Day      string         `json:"day"` // UTC
	Pool     string         `json:"pool"`
	Cost     float64        `json:"cost"`
	OnDemand float64        `json:"onDemand"`
	Bought   int            `json:"bought"`
	Ended    map[string]int `json:"ended,omitempty"`
	Moved    int            `json:"moved"`

	Interrupted int `json:"interrupted,omitempty"`
}

// Point is a moment.
type Point struct {
	At       int64   `json:"at"`
	Price    float64 `json:"price"` // an hour
	OnDemand float64 `json:"onDemand"`
	Bound    float64 `json:"bound,omitempty"` // that the pods which could move would cost at least, by the last decision that knew
	Nodes    int     `json:"nodes"`
	Waiting  int     `json:"waiting"`
	Would    float64 `json:"would,omitempty"` // an hour, with the decisions of a shadow
}

// mostPoints is how many moments are shown.
const mostPoints = 2000

// reading reads decisions, the oldest first. It keeps no World.
type reading struct {
	out   Period
	tally live.Tally

	rows    map[[2]string]*Row
	claims  map[string]claim  // that are there
	why     map[string]string // by which decisions claims went
	deleted map[string]string // why they were deleted, where a controller knew it
	all     bool              // machines without a claim count as well
	counted map[string]bool   // claims of which the pods are counted as moved
	pods    map[string]pod    // that wait
	waits   []int64
	last    int64
	paid    map[string]price // an hour, by pool, since the last look
	bound   money.Micro
	skipped int // decisions that came out of order

	contest *contest // nil: these are no decisions of a shadow
}

// interruption reports whether a claim was deleted because the cloud gave notice that its machine goes, or is of no use.
func interruption(why string) bool {
	return slices.Contains([]string{
		"spot_interrupted", "scheduled_change", "instance_stopped", "instance_terminated", "capacity_reservation_interrupted", "capacity_block_ends",
		"instance_status", "system_status", "event_status",
	}, why)
}

// claim is what is known of one while it is there.
type claim struct{ pool, going string }

// pod is one that waits.
type pod struct{ created int64 }

type price struct{ is, onDemand money.Micro }

func newReading() *reading {
	return &reading{
		out:  Period{Format: "tenon-report/v1", Ended: map[string]int{}, Rows: []Row{}, Curve: []Point{}},
		rows: map[[2]string]*Row{}, why: map[string]string{}, deleted: map[string]string{}, counted: map[string]bool{}, pods: map[string]pod{},
	}
}

func (r *reading) row(at int64, pool string) *Row {
	key := [2]string{time.Unix(at, 0).UTC().Format(time.DateOnly), pool}
	if r.rows[key] == nil {
		r.rows[key] = &Row{Day: key[0], Pool: pool, Ended: map[string]int{}}
	}
	return r.rows[key]
}

// add takes over a decision, and the World that it was made of.
func (r *reading) add(e journal.Entry) {
	w := e.World
	at := w.At()
	if r.out.Decisions > 0 && at < r.last {
		r.skipped++
		return
	}
	first := r.out.Decisions == 0
	if first {
		r.out.From, r.out.Currency = at, live.Currency(w)
		r.all = estimate.CountsAll(e)
	}
	r.out.Decisions++
	r.pay(at)
	r.out.Until, r.last = at, at
	t := r.tally.Of(w) // which learns the prices as well
	maps.Copy(r.deleted, e.Deleted)
	r.look(w, first)
	if e.Shadow {
		if r.contest == nil {
			r.contest = newContest()
		}
		r.contest.add(e)
	} else {
		for _, g := range e.Plan.Back() {
			r.why[g.Claim] = g.Reason
		}
	}
	if e.Kind == journal.GiveBack && !e.Shadow {
		for _, c := range e.Plan.Commands {
			if c.Begun || c.Idle() || !c.Acts() || len(c.Back) == 0 || r.counted[c.Back[0].Claim] {
				continue
			}
			r.counted[c.Back[0].Claim] = true // a command that could not begin is decided again
			r.out.Moved += c.Pods
			r.row(at, c.Back[0].Pool.Name).Moved += c.Pods
		}
	}
	if e.Kind == journal.GiveBack && e.Plan.Least > 0 {
		r.bound = e.Plan.Least
	}
	p := Point{At: at, Bound: r.bound.Units(), Nodes: t.Ready + t.NotReady + t.Going, Waiting: t.Waiting}
	var sum price
	for _, x := range r.paid {
		sum = price{sum.is + x.is, sum.onDemand + x.onDemand}
	}
	p.Price, p.OnDemand = sum.is.Units(), sum.onDemand.Units()
	if r.contest != nil {
		_, would := r.contest.estimate.Price()
		p.Would = would.Units()
	}
	if n := len(r.out.Curve); n > 0 && r.out.Curve[n-1].At == at {
		r.out.Curve[n-1] = p
		return
	}
	r.out.Curve = append(r.out.Curve, p)
}

// pay counts what was paid since the last look, day by day: between two decisions the price stood as the first one saw it.
func (r *reading) pay(until int64) {
	for from := r.last; from < until && r.paid != nil; {
		midnight := time.Unix(from, 0).UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Unix()
		to := min(until, midnight)
		hours := float64(to-from) / 3600
		for pool, p := range r.paid {
			row := r.row(from, pool)
			row.Cost += p.is.Units() * hours
			row.OnDemand += p.onDemand.Units() * hours
		}
		from = to
	}
}

// look sees which claims came and went, and which pods have waited.
func (r *reading) look(w *world.World, first bool) {
	at := w.At()
	r.paid = map[string]price{}
	now := map[string]claim{}
	for _, p := range w.Places() {
		if p.Claim == nil && !r.all {
			continue
		}
		name, c := p.Name(), claim{pool: p.Pool().Name}
		if p.Claim != nil {
			name, c.going = p.Claim.Name, p.Claim.Going
		}
		now[name] = c
		if _, was := r.claims[name]; !was && !first {
			r.out.Bought++
			r.row(at, c.pool).Bought++
		}
		is, onDemand := r.tally.Price(w, p)
		sum := r.paid[c.pool]
		r.paid[c.pool] = price{sum.is + is, sum.onDemand + onDemand}
	}
	for name, c := range r.claims {
		if _, is := now[name]; is {
			continue
		}
		why := cmp.Or(r.why[name], r.deleted[name], c.going)
		r.out.Ended[why]++
		row := r.row(at, c.pool)
		row.Ended[why]++
		if interruption(why) {
			r.out.Interrupted++
			row.Interrupted++
		}
	}
	r.claims = now
	there := map[string]bool{}
	for _, p := range w.Pods() {
		if p.Virtual {
			continue
		}
		id := cmp.Or(p.UID, p.String())
		switch was, waited := r.pods[id]; {
		case p.Node == "" && !p.Done:
			there[id] = true
			r.pods[id] = pod{p.Created}
		case waited && p.Node != "":
			if was.created > 0 {
				r.waits = append(r.waits, max(cmp.Or(p.Started, at)-was.created, 0))
			}
		}
	}
	for id := range r.pods {
		if !there[id] {
			delete(r.pods, id)
		}
	}
}

// period is what came of it.
func (r *reading) period() Period {
	out := r.out
	if r.contest != nil {
		out.Shadow = r.contest.shadow()
	}
	out.Waits.Waiting, out.Waits.Pods = len(r.pods), len(r.waits)
	if n := len(r.waits); n > 0 {
		slices.Sort(r.waits)
		out.Waits.Median, out.Waits.Most95, out.Waits.Longest = r.waits[(n-1)/2], r.waits[(n*19+19)/20-1], r.waits[n-1]
	}
	for _, key := range slices.SortedFunc(maps.Keys(r.rows), func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }) {
		row := *r.rows[key]
		out.Rows = append(out.Rows, row)
		out.Cost, out.OnDemand = out.Cost+row.Cost, out.OnDemand+row.OnDemand
	}
	if n := len(out.Curve); n > mostPoints {
		var some []Point
		for i := range mostPoints {
			some = append(some, out.Curve[i*(n-1)/(mostPoints-1)])
		}
		out.Curve = some
	}
	return out
}
