package solve

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The start from the relaxation's mix keeps every rule and leaves out nothing that hosts can take, whatever the items.
func TestMixIsValid(t *testing.T) {
	cmr, gpu := cmrMarket(3, 64), gpuMarket(2)
	for seed := range uint64(6) {
		for name, f := range map[string]figure{
			"lognormal": {work: lognorm, market: cmr}, "complementary": {work: compl, market: cmr}, "constrained": {work: constr, market: cmr},
			"one a host": {work: onePerNode, market: cmr}, "gpus": {work: gpumix, market: gpu}, "unique": {work: unique, market: cmr},
		} {
			p := f.work(rand.New(rand.NewPCG(seed, 3)), &f.market, 300, 30)
			p.Charge = 20_000
			m := compile(p)
			f := newRelaxation(m, m.kinds(), m.charge)
			f.ascend()
			x := newPacker(m).mix(f.narrow(maxHostExcess), 0.1, DefaultSteps)
			if x == nil {
				continue
			}
			if wrong := check(p, m.answer(p, x)); len(wrong) > 0 {
				t.Errorf("%s, seed %d: %v", name, seed, wrong[:min(5, len(wrong))])
			}
			if slices.ContainsFunc(x.left, func(n int) bool { return n > 0 }) {
				t.Errorf("%s, seed %d: %v are left", name, seed, x.left)
			}
		}
	}
}
