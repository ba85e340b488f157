package pack

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/solve"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/world"
)

// Yard is a cluster in which the pods of some machines can be taken up, put
// down elsewhere or on machines that are bought for them, and put back. It goes
// by the same rules as Pack, since it is the same packer.
//
// Machines go by their position among Places. A pod that has been taken up and
// not put down yet is in the air.
type Yard struct {
	k        *Packer
	lodgers  []lodger // what runs on each machine that may be cleared
	homes    map[*waiting]int
	trail    []step
	worth    []int64 // of one pod of each class, micro-units an hour; below 0 if none can be bought for
	bound    int64
	bought   []*bin
	standing []*bin // those of bought that have not been given back
}

// lodger is a machine's own pods, and what else runs there and goes with it.
type lodger struct {
	pods   []*waiting
	others []*world.Pod
	taken  bool // by waiting pods
	barred bool // nothing is to be put there
	closed bool
	aside  int // pods that are
}

// step is one thing that was done: a pod taken up, a machine closed or bought.
type step struct {
	pod      *waiting
	from     *bin
	closed   int
	bought   *bin
	recalled int // one more than the machine's number
}

// Mark is a moment to which Undo goes back.
type Mark int

// NewYard returns the cluster of w with all pods that wait put where they would
// go now. The pods of the machines that may be cleared can be taken up.
func NewYard(w *world.World, o Options, clear func(*world.Place) bool) *Yard {
	k := newPacker(w, o)
	pods := k.admit()
	all := slices.Clone(pods)
	k.places = slices.Clone(k.places)
	others := map[*world.Place][]*world.Pod{}
	for i, m := range k.places {
		if !clear(m) {
			continue
		}
		rest := &world.Place{Node: m.Node, Claim: m.Claim, Used: m.Used}
		for _, p := range m.Pods {
			if !moves(p) {
				rest.Pods = append(rest.Pods, p)
				continue
			}
			rest.Used = rest.Used.Minus(p.Requests)
			all = append(all, p)
		}
		k.places[i], others[rest] = rest, rest.Pods
	}
	k.ready(all)
	k.loose = true
	y := &Yard{k: k, lodgers: make([]lodger, len(k.old)), homes: map[*waiting]int{}}
	for i, b := range k.old {
		if _, clearable := others[b.machine]; clearable {
			y.lodgers[i] = lodger{others: others[b.machine]}
			for _, x := range b.pods {
				if x.pod.Node != "" {
					y.lodgers[i].pods = append(y.lodgers[i].pods, x)
					y.homes[x] = i
				}
			}
		}
	}
	y.receive(len(pods) > 0)
	return y
}

// receive puts the waiting pods where they go, so that nobody else counts on the room.
func (y *Yard) receive(some bool) {
	k := y.k
	if some {
		k.keep()
		k.place(false)
		k.verify()
	}
	for i, b := range k.old {
		y.lodgers[i].taken = len(b.pods) > len(y.lodgers[i].pods)
	}
	k.left, k.new = nil, nil // what is planned for them is in the ledger and in the limits; it takes nobody else
}

// Places returns the machines that are there or on their way, those that are complete first, by name.
func (y *Yard) Places() []*world.Place {
	out := make([]*world.Place, len(y.k.old))
	for i, b := range y.k.old {
		out[i] = b.machine
	}
	return out
}

// Lodgers are the pods of machine i that move when it goes.
func (y *Yard) Lodgers(i int) []*world.Pod {
	out := make([]*world.Pod, len(y.lodgers[i].pods))
	for n, x := range y.lodgers[i].pods {
		out[n] = x.pod
	}
	return out
}

// Count is how many pods are on machine i that move when it goes.
func (y *Yard) Count(i int) int { return len(y.k.old[i].pods) }

// Taken reports whether waiting pods are to go to machine i.
func (y *Yard) Taken(i int) bool { return y.lodgers[i].taken }

// Bar keeps pods from being put onto machine i.
func (y *Yard) Bar(i int) { y.lodgers[i].barred, y.k.old[i].shut = true, true }

// Mark returns the moment that is now.
func (y *Yard) Mark() Mark { return Mark(len(y.trail)) }

// Steps is the work done so far, counted.
func (y *Yard) Steps() int { return y.k.steps }

// Clear takes up what is on machine i, and closes it.
func (y *Yard) Clear(i int) {
	b := y.k.old[i]
	for _, x := range slices.Clone(b.pods) {
		y.take(x)
	}
	y.close(i)
}

// Aside puts the pods in the air aside, for machines to be bought for them later.
// Until then they count as running where they are at home, so that others are
// spread and kept apart as they are to be. What was done so far stands.
func (y *Yard) Aside() {
	for _, x := range y.k.left {
		y.put(x)
	}
	y.k.left, y.trail = nil, nil
}

// put puts the pod aside.
func (y *Yard) put(x *waiting) {
	home := y.homes[x]
	if y.lodgers[home].aside == 0 {
		y.enter(home)
	}
	y.lodgers[home].aside++
	y.k.ledger.Put(x.class.subject, y.k.old[home].node)
}

// Astray reports whether pods of machine i are aside.
func (y *Yard) Astray(i int) bool { return y.lodgers[i].aside > 0 }

// recall ends that pods of machine i are aside, and returns them.
func (y *Yard) recall(i int) []*waiting {
	l := &y.lodgers[i]
	if l.aside == 0 {
		return nil
	}
	var out []*waiting
	for _, x := range l.pods {
		if x.bin == nil {
			y.k.ledger.Take(x.class.subject, y.k.old[i].node)
			out = append(out, x)
		}
	}
	y.leave(i)
	l.aside = 0
	return out
}

// Recall takes up the pods of machine i that are aside.
func (y *Yard) Recall(i int) {
	for _, x := range y.recall(i) {
		y.trail = append(y.trail, step{pod: x})
		y.k.left = append(y.k.left, x)
	}
	y.trail = append(y.trail, step{recalled: i + 1})
}

// Restore puts machine i back as it was, with its own pods, wherever they are
// now. What was done so far stands.
func (y *Yard) Restore(i int) {
	y.recall(i)
	for _, x := range y.lodgers[i].pods {
		if x.bin != nil {
			y.k.unload(x)
		}
	}
	y.reopen(i)
	for _, x := range y.lodgers[i].pods {
		y.k.join(y.k.old[i], x)
	}
	y.trail = nil
}

// take takes the pod up.
func (y *Yard) take(x *waiting) {
	y.trail = append(y.trail, step{pod: x, from: x.bin})
	y.k.unload(x)
	y.k.left = append(y.k.left, x)
}

func (y *Yard) close(i int) {
	y.leave(i)
	y.k.old[i].shut, y.lodgers[i].closed = true, true
	y.trail = append(y.trail, step{closed: i})
}

func (y *Yard) reopen(i int) {
	y.enter(i)
	y.k.old[i].shut, y.lodgers[i].closed = y.lodgers[i].barred, false
}

// leave takes a machine and what goes with it out of the ledger.
func (y *Yard) leave(i int) {
	b := y.k.old[i]
	for _, p := range y.lodgers[i].others {
		y.k.ledger.Stop(p, b.node)
	}
	y.k.ledger.Vacate(b.node)
}

func (y *Yard) enter(i int) {
	b := y.k.old[i]
	y.k.ledger.Occupy(b.node)
	for _, p := range y.lodgers[i].others {
		y.k.ledger.Run(p, b.node)
	}
}

// Settle puts the pods in the air onto machines that are there, tried in the
// order told, and returns how many are still in the air.
func (y *Yard) Settle(order []int) int {
	k := y.k
	sortWaiting(k.left)
	var rest []*waiting
	from, last := 0, (*class)(nil)
	for _, x := range k.left {
		if x.class != last {
			from, last = 0, x.class
		}
		at := y.choose(x, order, from)
		if at < 0 {
			rest = append(rest, x)
			if x.class.plain {
				from = len(order)
			}
			continue
		}
		if x.class.plain && !k.choosy(x.class) {
			from = at
		}
		k.join(k.old[order[at]], x)
	}
	k.left = rest
	return len(rest)
}

// choose returns which of the machines takes the pod with the least regret, the first of several; -1 if none does.
func (y *Yard) choose(x *waiting, order []int, from int) int {
	k := y.k
	best, least := -1, 0
	choosy := k.choosy(x.class)
	for n := from; n < len(order); n++ {
		b := k.old[order[n]]
		if !k.accepts(b, x) {
			continue
		}
		if !choosy {
			return n
		}
		if r := k.regretOn(x.class, b); best < 0 || r < least {
			best, least = n, r
		}
		if least == 0 {
			break
		}
	}
	return best
}

// Buy buys machines for the pods in the air, and returns what they are. It
// reports false if some found none; they stay in the air.
func (y *Yard) Buy() ([]int, bool) {
	k := y.k
	for _, c := range k.classes {
		c.tried, c.triedOn = 0, 0
	}
	air := slices.Clone(k.left)
	sortWaiting(k.left)
	if !k.options.ExactOnly {
		k.search()
	}
	k.exact()
	k.trimAll()
	k.exact()
	for _, b := range k.new {
		b.shut = true
		y.stand(b)
	}
	var out []int
	for _, b := range k.new {
		out = append(out, len(y.bought))
		y.bought = append(y.bought, b)
	}
	k.new = nil
	return out, len(k.left) == 0 && y.sound(air)
}

// stand notes that the machine has been bought.
func (y *Yard) stand(b *bin) {
	y.standing = append(y.standing, b)
	y.trail = append(y.trail, step{bought: b})
}

// giveBack undoes that.
func (y *Yard) giveBack(b *bin) {
	y.standing = slices.DeleteFunc(y.standing, func(x *bin) bool { return x == b })
	y.k.ledger.Leave(b.node)
	y.k.charge(b.offer, -1)
}

// sound reports whether kube-scheduler could bind the pods one after the other in some order.
func (y *Yard) sound(pods []*waiting) bool {
	k := y.k
	rest := slices.Clone(pods)
	sortWaiting(rest)
	for _, x := range rest {
		k.ledger.Take(x.class.subject, x.bin.node)
	}
	for len(rest) > 0 {
		var stuck []*waiting
		for _, x := range rest {
			k.steps++
			if k.ledger.Allows(x.class.subject, x.bin.node) {
				k.ledger.Put(x.class.subject, x.bin.node)
				continue
			}
			stuck = append(stuck, x)
		}
		if len(stuck) == len(rest) {
			break
		}
		rest = stuck
	}
	for _, x := range rest {
		k.ledger.Put(x.class.subject, x.bin.node)
	}
	return len(rest) == 0
}

// Undo takes back all that was done since the mark. Nothing is in the air then.
func (y *Yard) Undo(to Mark) {
	k := y.k
	was := map[*waiting]*bin{}
	var pods []*waiting
	for _, s := range y.trail[to:] {
		if s.pod == nil {
			continue
		}
		if _, known := was[s.pod]; known {
			continue
		}
		was[s.pod] = s.from
		pods = append(pods, s.pod)
		if s.pod.bin != nil {
			k.unload(s.pod)
		}
	}
	var again []int
	for _, s := range slices.Backward(y.trail[to:]) {
		switch {
		case s.pod != nil:
		case s.recalled > 0:
			again = append(again, s.recalled-1)
		case s.bought != nil:
			y.giveBack(s.bought)
		default:
			y.reopen(s.closed)
		}
	}
	for _, x := range pods {
		if was[x] != nil {
			k.join(was[x], x)
		}
	}
	k.left, y.trail = nil, y.trail[:to]
	for _, i := range again {
		for _, x := range y.lodgers[i].pods {
			if x.bin == nil {
				y.put(x)
			}
		}
	}
}

// Reset puts everything back. What was bought can be bought once more by Move.
func (y *Yard) Reset() {
	k := y.k
	for i := range y.lodgers {
		for _, x := range y.lodgers[i].pods {
			if x.bin != nil && x.bin != k.old[i] {
				k.unload(x)
			}
		}
	}
	for _, b := range slices.Clone(y.standing) {
		y.giveBack(b)
	}
	for i := range y.lodgers {
		if y.lodgers[i].closed {
			y.reopen(i)
		}
		for _, x := range y.lodgers[i].pods {
			if x.bin == nil {
				k.join(k.old[i], x)
			}
		}
	}
	k.left, y.trail = nil, nil
}

// Where says where the pods of machine i are: on a machine by its position, or,
// as the complement, on one that was bought.
func (y *Yard) Where(i int) []int {
	out := make([]int, len(y.lodgers[i].pods))
	for n, x := range y.lodgers[i].pods {
		if x.bin.machine != nil {
			out[n] = x.bin.number
		} else {
			out[n] = ^slices.Index(y.bought, x.bin)
		}
	}
	return out
}

// Move clears machines and puts their pods where told, as Where says it, buying
// once more what is named. It reports whether kube-scheduler could bind all of
// them one after the other; if not, what was done is to be undone.
func (y *Yard) Move(machines []int, where [][]int) bool {
	target := map[*waiting]*bin{}
	for n, i := range machines {
		for j, x := range y.lodgers[i].pods {
			if at := where[n][j]; at >= 0 {
				target[x] = y.k.old[at]
			} else {
				target[x] = y.bought[^at]
			}
		}
		y.Clear(i)
	}
	for _, x := range y.k.left {
		b := target[x]
		if b == nil {
			return false // somebody else's, who is there only for now
		}
		if b.machine == nil && !slices.Contains(y.standing, b) {
			y.again(b)
		}
	}
	ok := y.follow(target)
	for _, s := range y.trail {
		if s.bought != nil {
			s.bought.shut = true
		}
	}
	return ok
}

// follow puts the pods in the air onto their targets, in an order in which that is allowed.
func (y *Yard) follow(target map[*waiting]*bin) bool {
	k := y.k
	sortWaiting(k.left)
	for len(k.left) > 0 {
		var rest []*waiting
		for _, x := range k.left {
			if k.accepts(target[x], x) {
				k.join(target[x], x)
				continue
			}
			rest = append(rest, x)
		}
		if len(rest) == len(k.left) {
			return false
		}
		k.left = rest
	}
	return true
}

// again buys a machine once more that was given back by Undo.
func (y *Yard) again(b *bin) {
	b.node, b.shut = y.k.ledger.Enter(b.place), false
	y.k.charge(b.offer, 1)
	y.stand(b)
}

// Worth finds out what pods are worth: the prices at which pouring all that may
// move into new machines costs least. It returns that cost.
func (y *Yard) Worth() int64 {
	if y.worth != nil {
		return y.bound
	}
	k := y.k
	count := make([]int, len(k.classes))
	for _, l := range y.lodgers {
		for _, x := range l.pods {
			count[x.class.number]++
		}
	}
	p := k.newProof()
	shares := map[spread.Share][]int{}
	y.worth = make([]int64, len(k.classes))
	var items []int
	for n, c := range k.classes {
		y.worth[n] = -1
		if count[n] == 0 {
			continue
		}
		item := solve.Item{Name: c.pod.String(), Need: c.need, Count: count[n], Hosts: among(c.offers, p.hosts), PerHost: k.ledger.PerHost(c.subject)}
		if item.Hosts == nil {
			continue
		}
		for _, s := range k.ledger.Caps(c.subject) {
			shares[s] = append(shares[s], len(p.free.Items))
		}
		items = append(items, n)
		p.free.Items = append(p.free.Items, item)
	}
	p.free.Groups = shared(shares)
	bound, worth := solve.Worth(p.free)
	for i, n := range items {
		y.worth[n] = worth[i]
	}
	y.bound = bound
	return bound
}

// Value is what the pods in the air are worth; false if for some of them nothing can be bought.
func (y *Yard) Value() (int64, bool) { return y.value(y.k.left) }

// Load is what the pods on machine i are worth; false if for some of them nothing can be bought.
func (y *Yard) Load(i int) (int64, bool) { return y.value(y.k.old[i].pods) }

func (y *Yard) value(pods []*waiting) (sum int64, all bool) {
	y.Worth()
	all = true
	for _, x := range pods {
		if w := y.worth[x.class.number]; w >= 0 {
			sum += w
		} else {
			all = false
		}
	}
	return sum, all
}

// Ask is machine j that was bought.
func (y *Yard) Ask(j int) plan.Ask { return y.k.ask(y.bought[j]) }

// Price is what machine j that was bought costs.
func (y *Yard) Price(j int) int64 { return y.k.market.offers[y.bought[j].offer].price }

// Objections is what the machines that are there have against the first pod in the air.
func (y *Yard) Objections() []*reason.Why {
	if len(y.k.left) == 0 {
		return nil
	}
	x := y.k.left[0]
	return []*reason.Why{{Code: reason.NoPlace, Subject: x.pod.String(), Causes: y.k.nodeWhys(x)}}
}
