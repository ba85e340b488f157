package pack

// rounds is how often pods that could not be bound are looked at again.
const rounds = 8

// verify replays all placements as if every planned machine were there and
// kube-scheduler bound the pods one by one, in an order in which it can. Pods
// it would not bind are placed anew; what still has no place then is refused.
func (k *Packer) verify() {
	if !k.ledger.Counts() {
		return
	}
	for range rounds {
		stuck := k.replay()
		if len(stuck) == 0 {
			return
		}
		for _, x := range stuck {
			b := x.bin
			k.ledger.Put(x.class.subject, b.node) // quit takes it off
			k.quit(x)
			if b.machine == nil && len(b.pods) == 0 {
				k.drop(b)
			}
		}
		k.left = append(k.left, stuck...)
		k.exact()
	}
	for _, x := range k.replay() {
		k.ledger.Put(x.class.subject, x.bin.node)
		k.quit(x)
		k.left = append(k.left, x)
	}
}

// replay takes all pods out of the ledger and enters them again as they can be
// bound. It returns those that cannot, which stay out of the ledger.
func (k *Packer) replay() []*waiting {
	var rest []*waiting
	for _, bins := range [][]*bin{k.old, k.new} {
		for _, b := range bins {
			for _, x := range b.pods {
				k.ledger.Take(x.class.subject, b.node)
				rest = append(rest, x)
			}
		}
	}
	sortWaiting(rest)
	for {
		var stuck []*waiting
		for _, x := range rest {
			k.steps++
			if x.held || k.ledger.Allows(x.class.subject, x.bin.node) {
				k.ledger.Put(x.class.subject, x.bin.node)
				continue
			}
			stuck = append(stuck, x)
		}
		if len(stuck) == 0 || len(stuck) == len(rest) {
			return stuck
		}
		rest = stuck
	}
}
