package relax

// Pricing is how a search sees the world at one moment: what items are worth, what is dear on each host, which hosts to consider.
type Pricing struct {
	relaxation *Relaxation
	Value      []float64 // what placing one item of each class is worth
	unit       []float64 // for each dimension and limit the price of one unit on each kind of host
	Hosts      []int32   // the hosts to consider
}

// Prices takes the prices from the relaxation as it stands.
func (f *Relaxation) Prices(loose float64) *Pricing {
	p := &Pricing{relaxation: f, unit: make([]float64, len(f.share))}
	p.read(loose)
	return p
}

func (p *Pricing) read(loose float64) {
	f := p.relaxation
	f.unitPrices(p.unit)
	p.Value = f.values(p.unit)
	used := f.near(p.unit, loose)
	p.Hosts = p.Hosts[:0]
	for h, n := range f.Kinds.Of {
		if used[n] {
			p.Hosts = append(p.Hosts, int32(h))
		}
	}
}

// UnitOf writes the price of one unit of each dimension on a host.
func (p *Pricing) UnitOf(h int32, unit []float64) {
	kinds := p.relaxation.Kinds
	for d := range unit {
		unit[d] = p.unit[d*len(kinds.All)+int(kinds.Of[h])]
	}
}

// Renew prices what is left, with what is left of the budgets.
func (p *Pricing) Renew(left []int, budgets []int64, loose float64) {
	p.relaxation.Weigh(left, budgets)
	p.relaxation.Climb(8, 0.2, 0.02)
	p.read(loose)
}
