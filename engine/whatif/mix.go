package whatif

import "math"

// mix is what the pods that may move ask for together, dimension by dimension: what is
// free on a machine is worth as much as it holds of it.
type mix []share

// share is one over what all pods that may move ask for of a dimension, and the least that one does.
type share struct {
	dim   int
	of    float64
	least int64
}

// asks is how much of the mix a pod with such needs is, dimension by dimension.
func (m mix) asks(need []int64) []float64 {
	out := make([]float64, len(m))
	for d, s := range m {
		out[d] = s.holds(need)
	}
	return out
}

// cost is how much less of the usual mix of pods a machine holds once it has to
// hold a pod as well. What takes only of what is left over there anyway costs nothing.
func (m mix) cost(asks []float64, free []int64) float64 {
	_, least := m.scarcest(free)
	most := 0.0
	for d, s := range m {
		most = max(most, asks[d]-(s.holds(free)-least))
	}
	return most
}

// costs is the same of a machine that has so much more than of what is scarcest.
func costs(asks, slack []float64) float64 {
	most := 0.0
	for d, s := range slack {
		most = max(most, asks[d]-s)
	}
	return most
}

// scarcest is of what a machine holds least of the usual mix of pods, and how much it holds.
func (m mix) scarcest(free []int64) (kind int, least float64) {
	least = math.MaxFloat64
	for d, s := range m {
		if holds := s.holds(free); holds < least {
			kind, least = d, holds
		}
	}
	return kind, least
}

// holds is how much of the usual mix of pods so much room holds, as far as one dimension goes.
func (s share) holds(free []int64) float64 { return float64(float64(free[s.dim]) * s.of) }
