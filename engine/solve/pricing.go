package solve

// pricing is how a search sees the world at one moment: what items are worth, what is dear on each host, which hosts to consider.
type pricing struct {
	relaxation *relaxation
	value      []float64 // what placing one item of each class is worth
	unit       []float64 // for each dimension and limit the price of one unit on each kind of host
	hosts      []int32   // the hosts to consider
}

// prices takes the prices from the relaxation as it stands.
func (f *relaxation) prices(loose float64) *pricing {
	p := &pricing{relaxation: f, unit: make([]float64, len(f.share))}
	p.read(loose)
	return p
}

func (p *pricing) read(loose float64) {
	f := p.relaxation
	f.unitPrices(p.unit)
	p.value = f.values(p.unit)
	used := f.near(p.unit, loose)
	p.hosts = p.hosts[:0]
	for h, n := range f.kinds.of {
		if used[n] {
			p.hosts = append(p.hosts, int32(h))
		}
	}
}

// unitOf writes the price of one unit of each dimension on a host.
func (p *pricing) unitOf(h int32, unit []float64) {
	kinds := p.relaxation.kinds
	for d := range unit {
		unit[d] = p.unit[d*len(kinds.all)+int(kinds.of[h])]
	}
}

// renew prices what is left.
func (p *pricing) renew(left []int, loose float64) {
	p.relaxation.weigh(left)
	p.relaxation.climb(8, 0.2, 0.02)
	p.read(loose)
}
