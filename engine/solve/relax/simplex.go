package relax

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// Simplex is the relaxation solved to the end, by the simplex method: how the aggregates are poured onto hosts, some of which are open already
// and cost nothing, so that what else is opened costs least. What a unit of each thing is worth then says why it costs that much.
//
// A row says that what is poured onto the hosts of a kind needs no more of one thing than they have. That all of an aggregate is poured is
// no row of its own: one kind is the aggregate's key, which takes what the others leave. So the basis has as many rows as kinds have
// things, however many aggregates there are. All of it is in floats: what it says is a guess, which is proven elsewhere.
type Simplex struct {
	f          *Relaxation
	Kinds      []int32   // those that are looked at
	row        []int     // the first row of each of them, and the end
	res        []int     // what each row counts: a dimension, or a limit
	size       []float64 // how much of it one host has
	price      []float64 // of each kind looked at
	unit       float64   // in which prices are
	scale      []float64 // in which amounts of each dimension and limit are
	aggregates []aggregate
	load       [][]float64
	takers     [][]int32 // of each aggregate, positions in kinds
	key        []int32
	on         [][]int32 // of each aggregate, the rows of the basis where it is poured onto other kinds than its key

	basis   []basic
	inverse [][]float64
	value   []float64
	worth   []float64 // of one unit of each row
	column  []float64 // of what enters, by the inverse
	next    int       // the aggregate that is looked at next
	Steps   int       // the counted work
}

// basic is what a row of the basis stands for: so much of an aggregate on a kind, so many hosts of a kind that are paid for (aggregate is paid),
// or so much of a row that is left over (aggregate is spare, and kind the row).
type basic struct{ aggregate, kind int32 }

const (
	paid  = -1
	spare = -2
)

// The simplex is left alone where it would take long.
const (
	mostRows   = 150
	mostTurns  = 6 // pivots for each row and aggregate
	partLooked = 8 // of the aggregates one in so many is looked at for a pivot
)

// NewSimplex looks at the same kinds as a relaxation; nil if these are too many.
func NewSimplex(f *Relaxation) *Simplex {
	b := &Simplex{f: f, Kinds: f.Considered, scale: make([]float64, f.Width)}
	at := make(map[int32]int32, len(f.Considered))
	for p, n := range f.Considered {
		at[n] = int32(p)
		b.unit = max(b.unit, f.kindPrice(n))
		for d, size := range f.sizes(n) {
			b.scale[d] = max(b.scale[d], size)
		}
	}
	for _, n := range f.Considered {
		b.row = append(b.row, len(b.res))
		b.price = append(b.price, f.kindPrice(n)/b.unit)
		for d, size := range f.sizes(n) {
			if d < f.Model.Dims || f.Limits[d-f.Model.Dims].reach[n] {
				b.res, b.size = append(b.res, d), append(b.size, size/b.scale[d])
			}
		}
	}
	b.row = append(b.row, len(b.res))
	if len(b.res) > mostRows {
		return nil
	}
	b.addAggregates(f, at)
	return b
}

// finely is how finely the simplex tells proportions of needs apart.
const finely = 32

// addAggregates gathers the classes into aggregates, which are finer than those of the relaxation.
func (b *Simplex) addAggregates(f *Relaxation, at map[int32]int32) {
	type key struct {
		kinds           int32
		caps, direction uint64
	}
	index := make(map[key]int)
	var aggregates []aggregate
	scale := make([]float64, f.Model.Dims)
	for d := range scale {
		scale[d] = 1 / b.scale[d]
	}
	for c := range f.Model.Classes {
		k := &f.Model.Classes[c]
		id := key{f.Kinds.SetOf[c], hash32(f.CapsOf[c]), direction(k.Need, scale, finely)}
		l, known := index[id]
		if !known {
			l = len(aggregates)
			index[id] = l
			aggregates = append(aggregates, aggregate{load: make([]float64, f.Model.Dims), caps: f.CapsOf[c], kinds: f.Kinds.Takers(c)})
		}
		aggregates[l].pieces += float64(k.Count)
		for d, need := range k.Need {
			aggregates[l].load[d] += float64(float64(need) * float64(k.Count))
		}
	}
	b.aggregates = aggregates
	for l := range aggregates {
		b.add(&aggregates[l], at)
	}
}

// takes reports whether the aggregate may go to a kind.
func (l *aggregate) takes(n int32) bool {
	_, found := slices.BinarySearch(l.kinds, n)
	return found
}

// add adds an aggregate.
func (b *Simplex) add(l *aggregate, at map[int32]int32) {
	load := make([]float64, b.f.Width)
	for d, n := range l.load {
		load[d] = n / b.scale[d]
	}
	for _, c := range l.caps {
		load[b.f.Model.Dims+int(c)] = l.pieces / b.scale[b.f.Model.Dims+int(c)]
	}
	var takers []int32
	for _, n := range l.kinds {
		if p, looked := at[n]; looked {
			takers = append(takers, p)
		}
	}
	b.load, b.takers = append(b.load, load), append(b.takers, takers)
}

// Solve pours everything beside so many open hosts of each kind looked at, and returns what else is opened costs, in micro-dollars.
func (b *Simplex) Solve(open []float64) float64 {
	b.begin(open)
	for range mostTurns * (len(b.res) + len(b.load)) {
		b.Appraise()
		agg, kind := b.enter()
		if agg == none || !b.pivot(agg, kind) {
			break
		}
	}
	sum := 0.0
	for i, x := range b.basis {
		if x.aggregate == paid {
			sum += float64(b.price[x.kind] * b.value[i])
		}
	}
	return sum * b.unit
}

const none = -3

// begin pours each aggregate onto the kind that is its cheapest at the worths as they stand, and pays for the hosts that takes.
func (b *Simplex) begin(open []float64) {
	m := len(b.res)
	if b.inverse == nil {
		b.inverse, b.basis, b.value = make([][]float64, m), make([]basic, m), make([]float64, m)
		b.column = make([]float64, m)
		b.on = make([][]int32, len(b.load))
		for r := range b.inverse {
			b.inverse[r] = make([]float64, m)
		}
		b.worth = make([]float64, m)
		b.key = make([]int32, len(b.load))
		b.guess()
	}
	for p := range b.Kinds {
		for r := b.row[p]; r < b.row[p+1]; r++ {
			clear(b.inverse[r])
			b.inverse[r][r] = 1
			b.basis[r] = basic{spare, int32(r)}
			// A little more than there is: where much is just enough, the simplex method would turn on the spot.
			b.value[r] = float64(b.size[r]*open[p]) + float64(1e-7*(1+float64(r%97)/97))
		}
	}
	for l := range b.load {
		b.on[l] = b.on[l][:0]
		least := 0.0
		for i, p := range b.takers[l] {
			if cost := b.cost(l, p); i == 0 || cost < least {
				b.key[l], least = p, cost
			}
		}
		for r := b.row[b.key[l]]; r < b.row[b.key[l]+1]; r++ {
			b.value[r] -= b.load[l][b.res[r]]
		}
	}
	for p := range b.Kinds {
		b.pay(p)
	}
}

// guess takes the worths from the shares of the relaxation.
func (b *Simplex) guess() {
	share := make([]float64, b.f.Width)
	for p, n := range b.Kinds {
		b.f.Shares(n, b.price[p]*b.unit, share)
		for r := b.row[p]; r < b.row[p+1]; r++ {
			b.worth[r] = share[b.res[r]] * b.price[p] / b.size[r]
		}
	}
}

// pay pays for as many hosts of a kind as are lacking.
func (b *Simplex) pay(p int) {
	at, most := -1, 0.0
	for r := b.row[p]; r < b.row[p+1]; r++ {
		if lack := -b.value[r] / b.size[r]; lack > most {
			at, most = r, lack
		}
	}
	if at < 0 {
		return
	}
	b.basis[at] = basic{paid, int32(p)}
	for r := b.row[p]; r < b.row[p+1]; r++ {
		if r != at {
			b.inverse[r][at] = -b.size[r] / b.size[at]
			b.value[r] += float64(b.size[r] * most)
		}
	}
	b.inverse[at][at] = -1 / b.size[at]
	b.value[at] = most
}

// Appraise finds what one unit of each row is worth.
func (b *Simplex) Appraise() {
	clear(b.worth)
	for i, x := range b.basis {
		if x.aggregate != paid {
			continue
		}
		price := b.price[x.kind]
		for r, v := range b.inverse[i] {
			b.worth[r] -= float64(price * v)
		}
	}
	b.Steps += len(b.res) * len(b.res) / 8
}

// cost is what an aggregate costs on a kind.
func (b *Simplex) cost(l int, p int32) float64 {
	sum := 0.0
	for r := b.row[p]; r < b.row[p+1]; r++ {
		sum += float64(b.worth[r] * b.load[l][b.res[r]])
	}
	return sum
}

// enter finds something that saves much to bring in; its aggregate is none if nothing saves anything. Not all aggregates are looked at each time.
func (b *Simplex) enter() (agg, kind int32) {
	agg, most := int32(none), 1e-9
	for looked := 0; looked < len(b.load) && (agg == none || looked < len(b.load)/partLooked); looked++ {
		if b.next++; b.next >= len(b.load) {
			b.next = 0
		}
		l := b.next
		now := b.cost(l, b.key[l])
		for _, p := range b.takers[l] {
			if gain := now - b.cost(l, p); gain > most {
				agg, kind, most = int32(l), p, gain
			}
		}
		b.Steps += len(b.takers[l]) / 2
	}
	for p := range b.Kinds {
		full := -b.price[p]
		for r := b.row[p]; r < b.row[p+1]; r++ {
			full += float64(b.worth[r] * b.size[r])
			if -b.worth[r] > most {
				agg, kind, most = spare, int32(r), -b.worth[r]
			}
		}
		if full > most {
			agg, kind, most = paid, int32(p), full
		}
	}
	return agg, kind
}

// pivot brings something into the basis; false if that is not possible.
func (b *Simplex) pivot(agg, kind int32) bool {
	b.turn(agg, kind)
	leave, key, least := -1, -1, 0.0
	for i, d := range b.column {
		if d > 1e-9 {
			if ratio := max(b.value[i], 0) / d; leave < 0 || ratio < least {
				leave, least = i, ratio
			}
		}
	}
	for l := range b.on {
		if len(b.on[l]) == 0 && int32(l) != agg {
			continue
		}
		left, rate := 1.0, 0.0 // of what the key takes, and how fast that gets less
		for _, i := range b.on[l] {
			left -= b.value[i]
			rate -= b.column[i]
		}
		if int32(l) == agg {
			rate++
		}
		if rate > 1e-9 {
			if ratio := max(left, 0) / rate; leave < 0 && key < 0 || ratio < least {
				key, least = l, ratio
			}
		}
	}
	switch {
	case key >= 0 && len(b.on[key]) == 0: // it is what comes in that takes its place
		b.move(least)
		b.key[key] = kind
		return true
	case key >= 0:
		leave = b.swap(key)
		b.turn(agg, kind)
		if b.column[leave] < 1e-11 {
			return false
		}
	case leave < 0:
		return false
	}
	b.replace(leave, basic{agg, kind}, least)
	return true
}

// turn writes the column of something as the basis sees it.
func (b *Simplex) turn(agg, kind int32) {
	clear(b.column)
	switch agg {
	case spare:
		for i := range b.column {
			b.column[i] = b.inverse[i][kind]
		}
	case paid:
		for r := b.row[kind]; r < b.row[kind+1]; r++ {
			b.plus(r, -b.size[r])
		}
	default:
		key := b.key[agg]
		for r := b.row[kind]; r < b.row[kind+1]; r++ {
			b.plus(r, b.load[agg][b.res[r]])
		}
		for r := b.row[key]; r < b.row[key+1]; r++ {
			b.plus(r, -b.load[agg][b.res[r]])
		}
	}
}

// plus adds so much of a row to the column.
func (b *Simplex) plus(r int, n float64) {
	if n == 0 {
		return
	}
	for i := range b.column {
		b.column[i] += float64(b.inverse[i][r] * n)
	}
	b.Steps += len(b.column) / 8
}

// move has so much of what enters come in.
func (b *Simplex) move(n float64) {
	for i, d := range b.column {
		b.value[i] -= float64(d * n)
	}
}

// swap makes another kind the key of an aggregate, and returns the row in which the old one is now.
func (b *Simplex) swap(l int) int {
	at := int(b.on[l][0])
	for _, i := range b.on[l] {
		if b.column[i] < b.column[at] { // it grows most
			at = int(i)
		}
	}
	left := 1.0
	row := b.inverse[at]
	for _, i := range b.on[l] {
		left -= b.value[i]
		if int(i) == at {
			continue
		}
		for r, v := range b.inverse[i] {
			row[r] += v
		}
	}
	for r := range row {
		row[r] = -row[r]
	}
	b.value[at] = left
	b.key[l], b.basis[at].kind = b.basis[at].kind, b.key[l]
	return at
}

// replace has so much of what enters come in, in the row of what leaves.
func (b *Simplex) replace(leave int, enters basic, n float64) {
	b.move(n)
	b.value[leave] = n
	if l := b.basis[leave].aggregate; l >= 0 {
		for k, i := range b.on[l] {
			if int(i) == leave {
				b.on[l] = append(b.on[l][:k], b.on[l][k+1:]...)
				break
			}
		}
	}
	if enters.aggregate >= 0 {
		b.on[enters.aggregate] = append(b.on[enters.aggregate], int32(leave))
	}
	b.basis[leave] = enters
	row, d := b.inverse[leave], b.column[leave]
	for r := range row {
		row[r] /= d
	}
	for i, x := range b.column {
		if i == leave || x == 0 {
			continue
		}
		other := b.inverse[i]
		for r, v := range row {
			other[r] -= float64(x * v)
		}
	}
	b.Steps += len(row) * len(row) / 8
}

// Price makes shares of the worths. Kinds that were not looked at get those of another, as high as is needed for everything to be worth
// no less there.
func (b *Simplex) Price(f *Relaxation) {
	looked := problem.NewBits(len(f.Kinds.All))
	for p, n := range b.Kinds {
		looked.Set(int(n))
		share := f.share[int(n)*f.Width:][:f.Width]
		clear(share)
		price := f.kindPrice(n) / b.unit
		for r := b.row[p]; r < b.row[p+1]; r++ {
			share[b.res[r]] = max(b.worth[r], 0) * b.size[r] / price
		}
	}
	least := b.least()
	for n := range f.Kinds.All {
		if !looked.Has(n) {
			b.follow(f, int32(n), least)
		}
	}
}

// least is what each aggregate is worth.
func (b *Simplex) least() []float64 {
	least := make([]float64, len(b.load))
	for l := range b.load {
		for i, p := range b.takers[l] {
			if cost := b.cost(l, p); i == 0 || cost < least[l] {
				least[l] = cost
			}
		}
	}
	return least
}

// follow gives a kind the shares of that of the others at which it has to be worth least.
func (b *Simplex) follow(f *Relaxation, n int32, least []float64) {
	own := f.share[int(n)*f.Width:][:f.Width]
	price := f.kindPrice(n) / b.unit
	best, high := own, 0.0
	for i := -1; i < len(b.Kinds); i++ {
		share := own
		if i >= 0 {
			share = f.share[int(b.Kinds[i])*f.Width:][:f.Width]
		}
		raise := 0.0
		for l, agg := range b.aggregates {
			if !agg.takes(n) {
				continue
			}
			cost := 0.0
			for r, load := range b.load[l] {
				if load > 0 {
					cost += float64(share[r] * price / f.size[int(n)*f.Width+r] * b.scale[r] * load)
				}
			}
			if raise = max(raise, least[l]/max(cost, 1e-30)); i >= 0 && raise > high {
				break
			}
		}
		if i < 0 || raise < high {
			best, high = share, raise
		}
	}
	sum := 0.0
	for r, s := range best {
		own[r] = s * high
		sum += own[r]
	}
	if sum > 1 {
		for r := range own {
			own[r] /= sum
		}
	}
}

// NarrowSimplex is a simplex of the kinds that are least dearer than the cheapest, as many as it may look at; nil if even these are too many.
func NarrowSimplex(f *Relaxation) *Simplex {
	for excess := float64(MaxHostExcess); excess > 0.001; excess /= 2 {
		if b := NewSimplex(f.Narrow(excess)); b != nil {
			return b
		}
	}
	return nil
}

// Settle makes the cap prices a part of the shares.
func (f *Relaxation) Settle() {
	all := make([]float64, len(f.share))
	for n := range f.Kinds.All {
		f.Shares(int32(n), f.kindPrice(int32(n)), all[n*f.Width:][:f.Width])
	}
	f.share = all
	clear(f.capPrice)
}
