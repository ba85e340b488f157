package packing

// TooFull notes that so many of the machines that are there are known to be too full for the class.
func (k *Packing) TooFull(c *Class, n int) {
	c.FullExisting = n
	k.learn(c)
}

// learn notes that the class knows of machines that are too full for it. Few do at a
// time, and what they know is forgotten often.
func (k *Packing) learn(c *Class) {
	if !c.learned {
		c.learned = true
		k.learned = append(k.learned, c)
	}
}

// ForgetFull has classes look at all machines again: some may have become emptier.
func (k *Packing) ForgetFull() {
	for _, c := range k.learned {
		c.FullExisting, c.FullPlanned, c.learned = 0, 0, false
	}
	k.learned = k.learned[:0]
}

// ForgetFullPlanned has classes look again at planned machines from one on.
func (k *Packing) ForgetFullPlanned(from int) {
	for _, c := range k.learned {
		c.FullPlanned = min(c.FullPlanned, from)
	}
}
