package packing

// Note notes that so many of the machines that are there, the first of them, are too full for the class.
func (f *Full) Note(c *Class, n int) {
	c.FullExisting = n
	f.learn(c)
}

// learn notes that the class has found such machines. Few have at a time, and what
// they found is forgotten often.
func (f *Full) learn(c *Class) {
	if !c.learned {
		c.learned = true
		f.classes = append(f.classes, c)
	}
}

// Forget has classes look at all machines again: some may have become emptier.
func (f *Full) Forget() {
	for _, c := range f.classes {
		c.FullExisting, c.FullPlanned, c.learned = 0, 0, false
	}
	f.classes = f.classes[:0]
}

// ForgetPlanned has classes look again at planned machines from one on.
func (f *Full) ForgetPlanned(from int) {
	for _, c := range f.classes {
		c.FullPlanned = min(c.FullPlanned, from)
	}
}
