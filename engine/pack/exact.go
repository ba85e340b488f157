package pack

// exact places the pods that are left one by one. Who finds no place is tried
// again as long as somebody does.
func (k *Packer) exact() {
	sortWaiting(k.left)
	k.placeCrowds(true)
	sortWaiting(k.left)
	for {
		before := len(k.left)
		k.left = k.eachOnce(k.left)
		if len(k.left) == before || len(k.left) == 0 {
			return
		}
	}
}

// eachOnce tries every pod once, those that want the company of others not
// before some of it has a place. It returns those that found none.
func (k *Packer) eachOnce(pods []*waiting) []*waiting {
	var again []*waiting
	remaining := map[*class]int{}
	for _, x := range pods {
		remaining[x.class]++
	}
	lonely := map[int32][]*waiting{} // by the group they want company of
	var hopeless *class              // nothing has changed since one of its pods found no place
	for i := 0; i < len(pods); i++ {
		x := pods[i]
		if group, alone := k.ledger.Lonely(x.class.subject); alone {
			lonely[group] = append(lonely[group], x)
			continue
		}
		if x.class == hopeless || !k.put(x, remaining[x.class]) && !k.lure(x, remaining[x.class]) {
			again = append(again, x)
			hopeless = x.class
		} else if len(lonely) > 0 {
			for _, group := range x.class.subject.Members() {
				pods = append(pods, lonely[group]...)
				delete(lonely, group)
			}
		}
		remaining[x.class]--
	}
	for _, group := range lonely {
		again = append(again, group...)
	}
	sortWaiting(again)
	return again
}
